/**
 * What patterns may cost. Whatever the shell matches (grep, sed, awk, jq, `=~`, `case`, `${x//…}` …) ends in one engine, RE2, which never
 * backtracks but still takes the length of the text times that of the pattern, in one go. Here it is counted, thread by thread, and stopped
 * when it is too much, whichever way pattern and text have come together: in an argument, a file, a variable, or made by awk itself.
 *
 * The interpreter neither exports its engine nor counts what it does, so it is found once, by the field that each of its patterns sets, and the
 * two methods through which all goes are surrounded. Throws where the version that we pin no longer keeps it so.
 */
import { Bash } from 'just-bash/browser';
import { limits } from '../../core/limits.ts';

/** The names are those of re2js 1.3 (`RE2JS`, `Machine`), which just-bash has bundled. */
type Pattern = { constructor: PatternClass; programSize(): number; re2(): { get(): Machine | null } };
type PatternClass = { compile(pattern: string, flags?: number): Pattern };
type Machine = { ncap: number };
type MachineMethods = {
  step(this: Machine, queue: { size: number }, ...rest: unknown[]): void;
  match(this: Machine, ...given: unknown[]): boolean;
};

/** Of the isolate, since it last gave way; in threads looked at. */
let matched = 0;
let trouble: string | null = null;

export function matchedSoFar(): number {
  return matched;
}

/**
 * Why matching was stopped since this was last asked; null: it was not. Asked for, because the interpreter takes an error of its engine for a
 * pattern that is none, or for a text that does not match.
 */
export function takePatternTrouble(): string | null {
  const taken = trouble;
  trouble = null;
  return taken;
}

/** Scripts that have commands under way, and how many. */
const busy = new Map<object, number>();
let unfit: { script: object; text: string; why: string } | null = null;

/** Around each command of a script. */
export async function duringCommand<Value>(script: object, work: () => Promise<Value>): Promise<Value> {
  busy.set(script, (busy.get(script) ?? 0) + 1);
  try {
    return await work();
  } finally {
    const left = (busy.get(script) ?? 1) - 1;
    if (left === 0) busy.delete(script);
    else busy.set(script, left);
  }
}

/** The last pattern of this script's commands that was none for the engine, and why; null: all were. Once. */
export function takeUnfitPattern(script: object): { text: string; why: string } | null {
  if (unfit?.script !== script) return null;
  const taken = unfit;
  unfit = null;
  return taken;
}

/** Others have run since. */
export function forgetMatched(): void {
  matched = 0;
  compiled.clear();
}

let guarded: Promise<void> | null = null;

/** Once for all scripts of the isolate, before the first. */
export function guardPatterns(): Promise<void> {
  guarded ??= guard();
  return guarded;
}

async function guard(): Promise<void> {
  const pattern = await anyPattern();
  const machine = pattern?.re2().get() ?? null;
  if (pattern === null || machine === null) throw new Error('just-bash keeps its patterns elsewhere: see pattern-engine.ts');
  countSteps(Object.getPrototypeOf(machine) as MachineMethods);
  boundPatterns(pattern.constructor);
}

/**
 * A pattern of the engine, just used. It is told of by a setter that takes itself away when it is first called, within the same run of
 * microtasks: no other request comes in between.
 */
async function anyPattern(): Promise<Pattern | null> {
  const field = 'patternInput';
  let found: Pattern | null = null;
  Object.defineProperty(Object.prototype, field, {
    configurable: true,
    set(this: Pattern, value: unknown) {
      Reflect.deleteProperty(Object.prototype, field);
      Object.defineProperty(this, field, { value, writable: true, enumerable: true, configurable: true });
      found = this;
    },
  });
  try {
    await new Bash({ defenseInDepth: false }).exec('[[ ab =~ a. ]]');
  } finally {
    Reflect.deleteProperty(Object.prototype, field);
  }
  return found;
}

function countSteps(methods: MachineMethods): void {
  const { step, match } = methods;
  methods.step = function (this: Machine, queue, ...rest) {
    // Each thread takes its groups with it.
    count(queue.size + ((queue.size * this.ncap) >> 4) + 1);
    step.call(this, queue, ...rest);
  };
  methods.match = function (this: Machine, ...given) {
    try {
      return match.apply(this, given);
    } catch (error) {
      // It follows alternatives by recursion.
      if (error instanceof RangeError) refuse('a pattern has too many alternatives or optional parts');
      throw error;
    }
  };
}

function count(threads: number): void {
  matched += threads;
  if (matched > limits.maxShellMatching) refuse('there was too much to match at once: take less text, or a simpler pattern');
}

function refuse(why: string): never {
  trouble = why;
  throw new Error(why);
}

/**
 * Its parser takes the depth of groups squared, and is recursive. What has been compiled is kept until others run: sed and jq compile the same
 * pattern again for every line.
 */
function boundPatterns(patterns: PatternClass): void {
  const compile = patterns.compile;
  patterns.compile = function (this: PatternClass, text, flags = 0) {
    const key = `${flags} ${text}`;
    const known = compiled.get(key);
    if (known !== undefined) return known;
    checkPattern(text);
    count(text.length * matchingPerCharacter);
    const pattern = noteFault(text, () => compile.call(this, text, flags));
    // Longer than its text where that repeats something.
    count(pattern.programSize() * matchingPerCharacter);
    if (compiled.size < maxCompiled) compiled.set(key, pattern);
    return pattern;
  };
}

function noteFault(text: string, work: () => Pattern): Pattern {
  try {
    return work();
  } catch (error) {
    const [script, ...others] = busy.keys();
    // With two under way nobody knows whose it was.
    if (script !== undefined && others.length === 0) unfit = { script, text, why: error instanceof Error ? error.message : String(error) };
    throw error;
  }
}

const compiled = new Map<string, Pattern>();
const maxCompiled = 64;
/** To compile a character takes as long as to look at so many threads. */
const matchingPerCharacter = 50;

function checkPattern(text: string): void {
  if (text.length > limits.maxShellPatternLength) refuse(`a pattern is longer than ${limits.maxShellPatternLength} characters`);
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    if (depth > limits.maxShellPatternDepth) refuse(`a pattern has groups in groups deeper than ${limits.maxShellPatternDepth}`);
  }
}
