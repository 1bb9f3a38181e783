/**
 * Limits the cost of pattern matching in one script. All commands of the shell (grep, sed, awk, jq, `=~`, `case`, `${x//…}` …) use one
 * engine, RE2. It never backtracks, but its cost is the length of the text times the length of the pattern, and it does not pause. The
 * budget counts its work, whatever the source of pattern and text (an argument, a file, a variable, a string built by awk), and stops the
 * script at the limit.
 */

/** Characters of one pattern of any command or of the shell itself, and nested groups in it. */
export const maxShellPatternLength = 10_000;
const maxShellPatternDepth = 100;
/**
 * One match, or matches between two yield points: for each character of a text, the positions in the pattern that it may match.
 */
const maxShellMatching = 20_000_000;

/** A compiled pattern of re2js 1.3, which just-bash bundles. */
export type Pattern = { programSize(): number };

export type PatternBudget = ReturnType<typeof createPatternBudget>;

export function createPatternBudget() {
  const compiled = new Map<string, Pattern>();
  let used = 0;
  let trouble: string | null = null;
  const step = (threads: number, groups: number): void => count(stepCost + threads * (2 + (groups >> 3)));
  return {
    /** Returns the compiled pattern, cached because sed and jq compile the same one for every line. Throws if the pattern is not allowed. */
    compile(text: string, flags: number, compile: () => Pattern): Pattern {
      const key = `${flags} ${text}`;
      const known = compiled.get(key);
      // A lookup costs time proportional to the length of the text.
      count(known === undefined ? text.length * compileCost : stepCost * 4 + (text.length >> 2));
      if (known !== undefined) return known;
      checkPattern(text);
      const pattern = compile();
      // A program is longer than its text if the text has repetitions.
      count(pattern.programSize() * compileCost);
      if (compiled.size >= maxCompiled) compiled.clear();
      compiled.set(key, pattern);
      return pattern;
    },
    /** Runs one search. The search reports its number of threads, and of groups in each thread, before each character. */
    match<Value>(search: (step: (threads: number, groups: number) => void) => Value): Value {
      count(searchCost);
      try {
        return search(step);
      } catch (error) {
        // The engine recurses into alternatives.
        if (error instanceof RangeError) refuse('a pattern has too many alternatives or optional parts');
        throw error;
      }
    },
    /** Work since the last `renew`. */
    used: () => used,
    /** Resets the count after other requests have run. */
    renew(): void {
      used = 0;
    },
    /** Why matching was stopped permanently, or null. The interpreter treats an error of its engine as "invalid" or "no match". */
    exceededReason: () => trouble,
  };

  function count(work: number): void {
    used += work;
    if (trouble !== null || used > maxShellMatching) refuse(trouble ?? 'too much to match at once: use less text or a simpler pattern');
  }

  function refuse(why: string): never {
    trouble = why;
    throw new Error(why);
  }

  /** The engine's parser is recursive, and its cost is quadratic in the depth of groups. */
  function checkPattern(text: string): void {
    if (text.length > maxShellPatternLength) refuse(`a pattern is longer than ${maxShellPatternLength} characters`);
    let depth = 0;
    for (const character of text) {
      if (character === '(') depth += 1;
      else if (character === ')') depth -= 1;
      if (depth > maxShellPatternDepth) refuse(`a pattern has groups nested deeper than ${maxShellPatternDepth}`);
    }
  }
}

/** Compiled patterns cached for one script. Each may have a program of ten thousand instructions. */
const maxCompiled = 64;
/**
 * Costs in units of `maxShellMatching`: for each character of a text, for each character of a pattern to compile, and for one
 * search.
 */
const stepCost = 4;
const compileCost = 50;
const searchCost = 40;
