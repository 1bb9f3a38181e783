/**
 * Reads a text until a match may end, 5 to 10 times faster than `pattern-search.ts` finds one (5 instead of 30 to 60 ms for a megabyte of prose or
 * JSON, 2026-11-28), so that fewer results exceed the bound of the work: it remembers which states follow which for a
 * character (a deterministic automaton that is built where it is needed). Assertions such as `\b` are taken for true, so not every place that
 * it finds is the end of a match.
 */
import { isRead, kinds, latin, type PatternProgram, widthOf } from './pattern-program.ts';

/** What is remembered of a pattern: sets, their states, and steps of characters beyond `latin`. If it is more, all of it is forgotten. */
const maxSets = 600;
const maxStates = 300_000;
const maxOtherSteps = 10_000;
/** With fewer characters for each new set, remembering them does not help. */
const minCharactersForSet = 8;
const minSetsToJudge = 1_200;
/** Work for each state of a set that is built; otherwise, some characters are one unit. */
const buildWork = 3;
const charactersAtOnce = 2;

/** The states in which a search may be. `canEnd`: a match may end here. `isIdle`: no match has begun that may continue. */
type StateSet = { states: Uint16Array; canEnd: boolean; isIdle: boolean; next: (StateSet | undefined)[]; others: Map<number, StateSet> };

/** How far a text was read. `idle`: a match that may end here begins there or later. `isUseless`: reading on does not help. */
export type Reading = { begin: number; at: number; idle: number; set: StateSet; built: number; isUseless: boolean; work: number };

export class PatternFilter {
  readonly #program: PatternProgram;
  readonly #visited: Uint8Array;
  readonly #start: StateSet;
  #sets = new Map<string, StateSet>();
  #states = 0;
  #otherSteps = 0;

  constructor(program: PatternProgram) {
    this.#program = program;
    this.#visited = new Uint8Array(program.instructions.length);
    this.#start = this.#setOf([], { work: 0 });
  }

  startAt(at: number): Reading {
    return { begin: at, at, idle: at, set: this.#start, built: 0, isUseless: false, work: 0 };
  }

  /** Reads on: at most so many characters, and until this work is done. Returns whether a match may end here. */
  read(text: string, reading: Reading, most: number, work: number): boolean {
    const from = reading.at;
    let end = Math.min(text.length, from + most);
    let { at, idle, set } = reading;
    while (at < end) {
      const code = text.charCodeAt(at);
      const known = code < latin ? set.next[code] : undefined;
      if (known === undefined) {
        const character = text.codePointAt(at) ?? code;
        at += widthOf(character);
        set = this.#follow(set, character, reading);
        if (reading.work >= work) end = at;
      } else {
        at += 1;
        set = known;
      }
      if (set.isIdle) idle = at;
      if (set.canEnd) break;
    }
    reading.work += (at - from) / charactersAtOnce;
    reading.isUseless = reading.built > minSetsToJudge && at - reading.begin < reading.built * minCharactersForSet;
    Object.assign(reading, { at, idle, set });
    return set.canEnd;
  }

  #follow(from: StateSet, character: number, reading: Reading): StateSet {
    const known = character < latin ? undefined : from.others.get(character);
    if (known !== undefined) return known;
    const { instructions } = this.#program;
    const outs: number[] = [];
    for (const state of from.states) if (isRead(this.#program, state, character)) outs.push((instructions[state] as { out: number }).out);
    reading.work += from.states.length;
    reading.built += 1;
    const set = this.#setOf(outs, reading);
    if (character < latin) from.next[character] = set;
    else {
      from.others.set(character, set);
      this.#otherSteps += 1;
    }
    return set;
  }

  /** Returns the set of states that these lead to, and with which a match begins. */
  #setOf(outs: readonly number[], reading: Pick<Reading, 'work'>): StateSet {
    const found: number[] = [];
    const visited: number[] = [];
    const canEnd = this.#enter(outs, found, visited);
    this.#enter([this.#program.start], found, visited);
    for (const state of visited) this.#visited[state] = 0;
    reading.work += visited.length * buildWork;
    const states = Uint16Array.from(found).sort();
    const isIdle = outs.length === 0;
    const key = keyOf({ states, canEnd, isIdle });
    const known = this.#sets.get(key);
    if (known !== undefined) return known;
    if (this.#sets.size >= maxSets || this.#states + states.length > maxStates || this.#otherSteps > maxOtherSteps) this.#forget();
    const set: StateSet = { states, canEnd, isIdle, next: Array.from({ length: latin }), others: new Map() };
    this.#sets.set(key, set);
    this.#states += states.length;
    return set;
  }

  /** Adds the states that read a character. Returns whether a match ends before one. */
  #enter(outs: readonly number[], found: number[], visited: number[]): boolean {
    const open = [...outs];
    let canEnd = false;
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (this.#visited[state] === 1) continue;
      this.#visited[state] = 1;
      visited.push(state);
      const { op, out, arg } = this.#program.instructions[state] as { op: number; out: number; arg: number };
      if (op >= kinds.rune) found.push(state);
      else if (op === kinds.match) canEnd = true;
      else if (op === kinds.alternative || op === kinds.alternativeMatch) open.push(out, arg);
      else if (op !== kinds.fail) open.push(out);
    }
    return canEnd;
  }

  #forget(): void {
    this.#start.next.fill(undefined);
    this.#start.others.clear();
    this.#sets = new Map([[keyOf(this.#start), this.#start]]);
    [this.#states, this.#otherSteps] = [this.#start.states.length, 0];
  }
}

function keyOf({ states, canEnd, isIdle }: Pick<StateSet, 'states' | 'canEnd' | 'isIdle'>): string {
  return `${Number(canEnd)}${Number(isIdle)}${String.fromCharCode(...states)}`;
}
