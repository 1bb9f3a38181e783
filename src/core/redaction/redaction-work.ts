/**
 * Counts the work of removing secrets and applying redaction rules. It is done in slices, so that other requests run between them, and the
 * work of the rules is bounded. A unit takes about 10 ns; units are counted instead of time, since on the edge the clock stands still
 * while code runs.
 */

/** The rules, for one result with all its texts: half a second to a second. */
export const maxRuleWork = 50_000_000;
/** What is done at once, without slices: a log line, a progress update. */
const maxWorkAtOnce = 1_000_000;
/** After this, other requests run. */
const sliceWork = 600_000;
const secondsPerUnit = 1e-8;

/** The rules could not be applied to a text within their bound. The message names the rule. */
export class RedactionLimitReached extends Error {
  constructor(rule: string, { length }: string) {
    super(`the redaction rule "${rule}" could not be applied to a text of ${length} characters within its bound`);
  }
}

export class RedactionWork {
  readonly #max: number;
  #ruleWork = 0;
  #slice = 0;
  #total = 0;
  #ms = 0;

  constructor(max = maxRuleWork) {
    this.#max = max;
  }

  static atOnce(): RedactionWork {
    return new RedactionWork(maxWorkAtOnce);
  }

  /** From times where they advance while code runs, else from the units. */
  get seconds(): number {
    return Math.max(this.#ms / 1_000, this.#total * secondsPerUnit);
  }

  addTime(ms: number): void {
    this.#ms += ms;
  }

  /** Counts work that is not bounded. Returns whether the slice has ended. */
  count(units: number): boolean {
    this.#total += units;
    this.#slice += units;
    if (this.#slice < sliceWork) return false;
    this.#slice = 0;
    return true;
  }

  /** Counts bounded work on a text. Returns whether the slice has ended. Throws `RedactionLimitReached`. */
  countRule(units: number, rule: string, text: string): boolean {
    this.#ruleWork += units;
    if (this.#ruleWork > this.#max) throw new RedactionLimitReached(rule, text);
    return this.count(units);
  }
}

/** Does the work of all slices at once. */
export function runAtOnce<Value>(slices: Generator<void, Value>): Value {
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}

/** Lets other requests run after each slice. */
export async function runInSlices<Value>(slices: Generator<void, Value>, work: RedactionWork, clock: Pauses): Promise<Value> {
  for (;;) {
    const began = clock.now();
    const { done, value } = slices.next();
    work.addTime(clock.now() - began);
    if (done === true) return value;
    await clock.sleep(0);
  }
}

type Pauses = { now(): number; sleep(ms: number): Promise<void> };
