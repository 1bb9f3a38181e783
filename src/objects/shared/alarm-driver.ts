/** The one alarm of an object, set to the next time of its jobs (`due-job.ts`). An object without work has none and is not woken. */
import { limits } from '../../core/limits/limits.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { DueJob } from './due-job.ts';

type AlarmParts = {
  storage: Pick<DurableObjectStorage, 'setAlarm' | 'deleteAlarm'>;
  jobs(): readonly DueJob[];
  log: Logger;
  /** Given by tests. */
  now?(): number;
  /** The alarm of a process that dies while jobs run fires after this. */
  retryMs: number;
  /** Overdue work waits for this long: it is usually in progress. */
  overdueMs: number;
  /** Jobs that take longer continue without the alarm: the next one cannot fire before this one has ended, and must not be late. */
  maxRunMs?: number;
  /** Called with the work of all jobs. */
  began?(work: Promise<unknown>): void;
};

/** The clock is synchronized in smaller steps. */
const clockStepMs = 1_000;

export class AlarmDriver {
  readonly #parts: AlarmParts;
  /** Time of the alarm; null: not known. */
  #at: number | null = null;
  /** When it was set. */
  #setAt = Number.NEGATIVE_INFINITY;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
  }

  #now(): number {
    return this.#parts.now?.() ?? Date.now();
  }

  get at(): number | null {
    return this.#at;
  }

  /** Whether it was set while the clock was ahead: then it comes too late. */
  get isLate(): boolean {
    return this.#at !== null && this.#setAt > this.#now() + clockStepMs;
  }

  /** Call when the storage was deleted, with the alarm. */
  forget(): void {
    this.#at = null;
  }

  /**
   * Sets the alarm to the next due time, to the millisecond, since schedules depend on it. An earlier alarm is kept: with a constant stream of
   * new work it would otherwise be postponed forever.
   */
  async arm(): Promise<void> {
    const { storage, jobs, retryMs, overdueMs } = this.#parts;
    const now = this.#now();
    const dues = jobs().flatMap((job) => job.nextDue() ?? []);
    if (dues.length === 0) {
      this.#at = null;
      return await storage.deleteAlarm();
    }
    const next = Math.min(...dues.map((due) => (due > now ? due : now + overdueMs)));
    const due = Math.min(next, now + limits.maxAlarmAheadMs);
    if (this.#at !== null && this.#at <= due && this.#at > now - retryMs) return;
    this.#at = due;
    this.#setAt = now;
    await storage.setAlarm(due);
  }

  /** Handles the alarm: runs what is due, and sets the next one. Never throws: the platform's own retries are finite. */
  async run(): Promise<void> {
    const { storage, jobs, log, retryMs, maxRunMs, began } = this.#parts;
    const failed = (error: unknown): void => log.error('a background job failed; it will be retried', { cause: String(error) });
    this.#setAt = this.#now();
    this.#at = this.#setAt + retryMs;
    await storage.setAlarm(this.#at);
    try {
      // One failing job must not delay the others.
      const ran = Promise.all(jobs().map((job) => job.runDue().catch(failed)));
      began?.(ran);
      await (maxRunMs === undefined ? ran : withTimeout(systemClock, ran, maxRunMs, () => undefined));
      this.#at = null;
      await this.arm();
    } catch (error) {
      failed(error);
    }
  }
}
