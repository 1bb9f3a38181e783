/**
 * Searches texts for a pattern that re2js has compiled, in steps whose work is counted. The searches of re2js cannot pause, and their cost is
 * only known afterwards: for each character of the text, the states that the search may be in. This one follows these states (Thompson's
 * algorithm, as in golang/go: src/regexp/exec.go), without groups, where `pattern-filter.ts` has found that there may be a match. It finds the
 * leftmost match, and of those the one that backtracking would find first.
 */
import type { RE2JS } from 're2js';
import type { SearchStep } from '../core/redaction/redact-text.ts';
import { PatternFilter, type Reading } from './pattern-filter.ts';
import { type Instruction, isRead, kinds, newline, type PatternProgram, readProgram, widthOf } from './pattern-program.ts';

/** Matches of one pattern in one text. The rest of a text with more is one match. */
const maxMatches = 10_000;
/** After a match, one that the pattern prefers must end within so many characters: otherwise each match could read the whole text. */
const maxLookahead = 1_024;
/** Work between two steps, and characters that are filtered between them. A unit takes about 10 ns: one state at one character. */
const stepWork = 50_000;
const filteredAtOnce = 100_000;
const none = -1;

/** Returns a function that finds the matches in a text. A search pauses at each step, so searches of several texts can take turns. */
export function createPatternSearch(compiled: RE2JS): (text: string) => Iterable<SearchStep> {
  const program = readProgram(compiled);
  const filter = new PatternFilter(program);
  const free: Search[] = [];
  return function* (text) {
    const search = free.pop() ?? new Search(program, filter);
    yield* search.findAll(text);
    free.push(search);
  };
}

class Search {
  readonly #program: PatternProgram;
  readonly #filter: PatternFilter;
  readonly #stack: Int32Array;
  #now: States;
  #next: States;
  #work = 0;

  constructor(program: PatternProgram, filter: PatternFilter) {
    const size = program.instructions.length;
    this.#program = program;
    this.#filter = filter;
    this.#stack = new Int32Array(size + 1);
    [this.#now, this.#next] = [new States(size), new States(size)];
  }

  *findAll(text: string): Generator<SearchStep> {
    let matches = 0;
    let isFiltered = true;
    for (let at = 0; at < text.length; ) {
      let until = text.length;
      if (isFiltered) {
        const reading = yield* this.#filterFrom(text, at);
        isFiltered = !reading.isUseless;
        at = reading.idle;
        if (isFiltered && !reading.set.canEnd) break;
        if (isFiltered) until = reading.at;
      }
      const { start, end } = yield* this.#find(text, at, until);
      at = end;
      if (start === end) continue;
      matches += 1;
      yield [start, matches > maxMatches ? text.length : end];
      if (matches > maxMatches) break;
    }
    yield this.#takeWork();
  }

  /** Reads to a place where a match may end, or to the end. */
  *#filterFrom(text: string, from: number): Generator<number, Reading> {
    const reading = this.#filter.startAt(from);
    while (reading.at < text.length && !reading.isUseless) {
      const canEnd = this.#filter.read(text, reading, filteredAtOnce, stepWork);
      this.#work += reading.work;
      reading.work = 0;
      if (this.#work >= stepWork) yield this.#takeWork();
      if (canEnd) break;
    }
    return reading;
  }

  /** Returns the first match that has a character; an empty one where the search ended: no match begins before it, and it is not before `until`. */
  *#find(text: string, from: number, until: number): Generator<number, { start: number; end: number }> {
    let [at, start, end] = [from, 0, none];
    this.#now.clear();
    for (;;) {
      if (this.#work >= stepWork) yield this.#takeWork();
      if (end !== none && (this.#now.size === 0 || at - end > maxLookahead)) {
        if (end > start) return { start, end };
        at = end + widthOf(text.codePointAt(end) ?? 0);
        end = none;
        this.#now.clear();
      }
      if (end === none && this.#now.size === 0 && at >= until) return { start: at, end: at };
      if (end === none) this.#add(this.#now, this.#program.start, at, text, at);
      const character = at < text.length ? (text.codePointAt(at) ?? none) : none;
      const next = at + widthOf(character);
      const matched = this.#step(text, character, next);
      if (matched !== none) [start, end] = [matched, at];
      at = next;
    }
  }

  /** Reads a character in all states, or the end of the text. Returns where the match begins that ends before the character. */
  #step(text: string, character: number, next: number): number {
    const { instructions } = this.#program;
    const [now, after] = [this.#now, this.#next];
    let matched = none;
    after.clear();
    this.#work += 1 + now.size;
    for (let index = 0; index < now.size; index += 1) {
      const state = now.states[index] as number;
      const { op, out } = instructions[state] as Instruction;
      const start = now.starts[index] as number;
      if (op === kinds.match) {
        // The states after it are those of matches that come later in the pattern's order.
        matched = start;
        break;
      }
      if (character !== none && isRead(this.#program, state, character)) this.#add(after, out, start, text, next);
    }
    [this.#now, this.#next] = [after, now];
    return matched;
  }

  /** Adds a state, or the ones that it leads to without reading a character, in the pattern's order. */
  #add(to: States, from: number, start: number, text: string, at: number): void {
    const { instructions } = this.#program;
    const stack = this.#stack;
    stack[0] = from;
    for (let left = 1; left > 0; ) {
      left -= 1;
      const state = stack[left] as number;
      if (!to.visit(state)) continue;
      this.#work += 1;
      const { op, out, arg } = instructions[state] as Instruction;
      if (op === kinds.match || op >= kinds.rune) to.add(state, start);
      else if (op === kinds.alternative || op === kinds.alternativeMatch) {
        stack[left++] = arg;
        stack[left++] = out;
      } else if (op !== kinds.fail && (op !== kinds.assertion || (arg & ~placeOf(text, at)) === 0)) stack[left++] = out;
    }
  }

  #takeWork(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }
}

/** States before a character, in the pattern's order, with the place where their match begins. */
class States {
  readonly states: Int32Array;
  readonly starts: Int32Array;
  readonly #visited: Int32Array;
  #round = 0;
  size = 0;

  constructor(most: number) {
    [this.states, this.starts, this.#visited] = [new Int32Array(most), new Int32Array(most), new Int32Array(most).fill(none)];
  }

  clear(): void {
    this.size = 0;
    this.#round = (this.#round + 1) | 0;
  }

  /** Returns whether it is the first visit since `clear`. */
  visit(state: number): boolean {
    if (this.#visited[state] === this.#round) return false;
    this.#visited[state] = this.#round;
    return true;
  }

  add(state: number, start: number): void {
    this.states[this.size] = state;
    this.starts[this.size] = start;
    this.size += 1;
  }
}

/** What an assertion requires of its place. */
const places = { lineStart: 1, lineEnd: 2, textStart: 4, textEnd: 8, wordBoundary: 16, noWordBoundary: 32 } as const;

function placeOf(text: string, at: number): number {
  const before = at > 0 ? text.charCodeAt(at - 1) : none;
  const after = at < text.length ? text.charCodeAt(at) : none;
  return (
    (before === none ? places.textStart : 0) |
    (before === none || before === newline ? places.lineStart : 0) |
    (after === none ? places.textEnd : 0) |
    (after === none || after === newline ? places.lineEnd : 0) |
    (isWord(before) === isWord(after) ? places.noWordBoundary : places.wordBoundary)
  );
}

/** As in RE2: ASCII. */
function isWord(code: number): boolean {
  const letter = code | 0x20;
  return (code >= 0x30 && code <= 0x39) || code === 0x5f || (code < 0x80 && letter >= 0x61 && letter <= 0x7a);
}
