/**
 * What the patterns of one script may cost. All commands of the shell (grep, sed, awk, jq, `=~`, `case`, `${x//…}` …) match with one engine, RE2:
 * it never backtracks, but takes the length of the text times that of the pattern, without a pause. The budget counts its work, wherever pattern
 * and text come from (an argument, a file, a variable, a string that awk built), and stops the script when it is too much.
 */
import { limits } from '../../core/limits.ts';

/** A compiled pattern of re2js 1.3, which just-bash bundles. */
export type Pattern = { programSize(): number };

export type PatternBudget = {
  /** Returns the compiled pattern: sed and jq compile the same one again for every line. Throws if it may not be compiled. */
  compile(text: string, flags: number, compile: () => Pattern): Pattern;
  /** Runs one search. The search reports its threads before each character, and the groups that each thread carries. */
  match<Value>(search: (step: (threads: number, groups: number) => void) => Value): Value;
  /** Work since the last `renew`. */
  used(): number;
  /** Starts to count anew: other requests have run since. */
  renew(): void;
  /** Why matching was stopped, permanently; null: it was not. The interpreter takes an error of its engine for "invalid" or "no match". */
  trouble(): string | null;
};

export function createPatternBudget(): PatternBudget {
  const compiled = new Map<string, Pattern>();
  let used = 0;
  let trouble: string | null = null;
  const step = (threads: number, groups: number): void => count(stepCost + threads * (2 + (groups >> 3)));
  return {
    compile(text, flags, compile) {
      const key = `${flags} ${text}`;
      const known = compiled.get(key);
      // To look it up takes as long as the text is.
      count(known === undefined ? text.length * compileCost : stepCost * 4 + (text.length >> 2));
      if (known !== undefined) return known;
      checkPattern(text);
      const pattern = compile();
      // Longer than its text where that repeats something.
      count(pattern.programSize() * compileCost);
      if (compiled.size >= maxCompiled) compiled.clear();
      compiled.set(key, pattern);
      return pattern;
    },
    match(search) {
      count(searchCost);
      try {
        return search(step);
      } catch (error) {
        // The engine follows alternatives by recursion.
        if (error instanceof RangeError) refuse('a pattern has too many alternatives or optional parts');
        throw error;
      }
    },
    used: () => used,
    renew() {
      used = 0;
    },
    trouble: () => trouble,
  };

  function count(work: number): void {
    used += work;
    if (trouble !== null || used > limits.maxShellMatching)
      refuse(trouble ?? 'there was too much to match at once: take less text, or a simpler pattern');
  }

  function refuse(why: string): never {
    trouble = why;
    throw new Error(why);
  }

  /** The parser of the engine takes the depth of groups squared, and is recursive. */
  function checkPattern(text: string): void {
    if (text.length > limits.maxShellPatternLength) refuse(`a pattern is longer than ${limits.maxShellPatternLength} characters`);
    let depth = 0;
    for (const character of text) {
      if (character === '(') depth += 1;
      else if (character === ')') depth -= 1;
      if (depth > limits.maxShellPatternDepth) refuse(`a pattern has groups in groups deeper than ${limits.maxShellPatternDepth}`);
    }
  }
}

/** Of one script. Each may hold a program of ten thousand instructions. */
const maxCompiled = 64;
/** In units of `limits.maxShellMatching`: for each character of a text, of a pattern to compile, and for one search. */
const stepCost = 4;
const compileCost = 50;
const searchCost = 40;
