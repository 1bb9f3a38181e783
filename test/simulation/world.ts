/**
 * The world of one simulated run: its clock, and all suspended work. One thing happens at a time, and the seed decides which is next. A
 * process is a `Life`: when it dies its work is gone or, when a new one replaced it, continues unaware.
 */
import type { Clock } from '../../src/ports/runtime.ts';
import { createRandom, type Random } from './random.ts';

/** `stale`: another life has replaced it, and it does not know. */
export type LifeState = 'alive' | 'stale' | 'dead';

export type Life = {
  number: number;
  state: LifeState;
  /** Some of its writes were lost: nothing that it sends is delivered any more. */
  isMute: boolean;
  clock: Clock;
  /** Resolves when it is this work's turn; never once the process is dead. */
  pause(label: string): Promise<void>;
};

/** An invariant of the product is broken: the run ends here. */
export class Violation extends Error {}

type Task = { label: string; life: Life; run(): void };
type Timer = { due: number; life: Life; run(): void };

/** Timers later than this wait for people: a run only passes them on purpose. */
const soonMs = 60 * 60_000;

export class World {
  readonly random: Random;
  readonly trace: string[] | null;
  now = Date.UTC(2026, 0, 1);
  violation: Violation | null = null;
  /** The alarm that outlives the process, and what it calls. */
  alarm: { due(): number | null; ring(): void } = { due: () => null, ring: () => undefined };
  #tasks: Task[] = [];
  #timers: Timer[] = [];
  #lives = 0;
  #ids = 0;

  constructor(seed: number, options: { tracing: boolean }) {
    this.random = createRandom(seed);
    this.trace = options.tracing ? [] : null;
  }

  note(line: () => string): void {
    this.trace?.push(line());
  }

  fail(what: string): void {
    this.violation ??= new Violation(what);
    this.note(() => `VIOLATION ${what}`);
  }

  id(prefix: string): string {
    this.#ids += 1;
    return `${prefix}_${this.#ids}`;
  }

  newLife(): Life {
    this.#lives += 1;
    const life: Life = {
      number: this.#lives,
      state: 'alive',
      isMute: false,
      clock: this.#clockOf(() => life),
      pause: (label) => this.#pause(life, label),
    };
    return life;
  }

  /** Its remaining work is gone with it. */
  bury(life: Life): void {
    life.state = 'dead';
    this.#tasks = this.#tasks.filter((task) => task.life !== life);
    this.#timers = this.#timers.filter((timer) => timer.life !== life);
  }

  /** One thing happens: some work continues, or time passes to the next timer. Returns false when nothing is left to happen soon. */
  async step(): Promise<boolean> {
    const timed = this.#tasks.length === 0 || this.random.chance(0.04);
    const happened = timed ? this.#nextTimer(this.now + soonMs) : this.#nextTask();
    if (!happened) return this.#tasks.length > 0 && timed ? await this.step() : false;
    await settle();
    return true;
  }

  /** Time passes, with everything that is due in it, and work that takes negligible time. */
  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    while (this.violation === null) {
      const worked = this.#tasks.length > 0 && this.random.chance(0.95) && this.#nextTask();
      if (!worked && !this.#nextTimer(until)) break;
      await settle();
    }
    this.now = Math.max(this.now, until);
  }

  /** When something is next due, however far away. */
  nextDue(): number | null {
    const due = [...this.#timers.map((timer) => timer.due), ...toList(this.alarm.due())];
    return due.length === 0 ? null : Math.min(...due);
  }

  #nextTask(): boolean {
    const index = this.random.int(0, this.#tasks.length - 1);
    const task = this.#tasks[index];
    if (task === undefined) return false;
    const last = this.#tasks.pop();
    if (last !== undefined && last !== task) this.#tasks[index] = last;
    this.note(() => `  [${task.life.number}${task.life.state === 'stale' ? ' stale' : ''}] ${task.label}`);
    task.run();
    return true;
  }

  #nextTimer(until: number): boolean {
    let first: Timer | null = null;
    for (const timer of this.#timers) if (first === null || timer.due < first.due) first = timer;
    const alarm = this.alarm.due();
    if (alarm !== null && alarm <= until && (first === null || alarm <= first.due)) {
      this.now = Math.max(this.now, alarm);
      this.note(() => '  the alarm fires');
      this.alarm.ring();
      return true;
    }
    if (first === null || first.due > until) return false;
    this.#timers.splice(this.#timers.indexOf(first), 1);
    this.now = Math.max(this.now, first.due);
    this.note(() => `  [${first.life.number}] a timer`);
    this.#guarded(first);
    return true;
  }

  /** What a timer of a stale life throws is ignored, as on the platform. */
  #guarded(timer: Timer): void {
    try {
      timer.run();
    } catch (error) {
      if (timer.life.state === 'alive') this.fail(`a timer threw: ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  #pause(life: Life, label: string): Promise<void> {
    if (life.state === 'dead') return new Promise(() => undefined);
    return new Promise((resolve) => this.#tasks.push({ label, life, run: resolve }));
  }

  #clockOf(lifeOf: () => Life): Clock {
    const after = (ms: number, run: () => void): (() => void) => {
      const life = lifeOf();
      if (life.state === 'dead') return () => undefined;
      const timer: Timer = { due: this.now + ms, life, run };
      this.#timers.push(timer);
      return () => {
        const index = this.#timers.indexOf(timer);
        if (index >= 0) this.#timers.splice(index, 1);
      };
    };
    return {
      now: () => this.now,
      after,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          if (signal?.aborted) return reject(signal.reason);
          const disarm = after(ms, resolve);
          signal?.addEventListener('abort', () => {
            disarm();
            reject(signal.reason);
          });
        }),
    };
  }
}

function toList(due: number | null): number[] {
  return due === null ? [] : [due];
}

/**
 * Resolves when everything that can continue without the world has continued: a tick only comes when no promise is pending in the
 * microtask queue. Not `setImmediate`, which calls the kernel each time.
 */
export function settle(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
