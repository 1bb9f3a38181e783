/**
 * Work of a Durable Object that is due at a time. A job says when it is due next, and one alarm drives all jobs of an object
 * (`alarm-driver.ts`). Most work is rows, each with its own due time. A row is claimed before its work starts, by storing the time of its
 * next attempt: a process that dies retries it, and an attempt that kills the process is not retried in a loop. Rows for one receiver, in
 * order, are an outbox (`outbox.ts`).
 */
import type { Logger } from '../../ports/runtime.ts';

export interface DueJob {
  /** Milliseconds since the epoch; null: nothing is due. */
  nextDue(): number | null;
  /** Runs what is due, if there is something. What fails stays due at a later time. */
  runDue(): Promise<void>;
}

/** A job with one run at a time: a run may take longer than the time to the next alarm, which then joins it. */
export function dueJob({ nextDue, run }: { nextDue(): number | null; run(): Promise<void> }): DueJob {
  let running: Promise<void> | null = null;
  return {
    nextDue,
    runDue: async () => {
      running ??= run().finally(() => (running = null));
      await running;
    },
  };
}

/** Returns the column `due` of the one row of a query. */
export function dueTime(sql: SqlStorage, query: string): number | null {
  return sql.exec<{ due: number | null }>(query).one().due;
}

type DueRowsParts<Row> = {
  log: Logger;
  nextDue(): number | null;
  /** Returns rows that are due, longest due first; those in progress may be among them. */
  due(count: number): readonly Row[];
  /** Identifies the attempt. */
  id(row: Row): string | number;
  /** Rows in progress at the same time. */
  atOnce: number;
  /** Rows that one run starts: `all` also starts what becomes due meanwhile. */
  perRun: number | 'all';
  /** Stores when the row is due again if this attempt does not end, and returns the row. By default, it stays due. */
  claim?(row: Row): Row;
  work(row: Row): Promise<void>;
  /** Stores when the row is due again. */
  failed(row: Row, error: unknown): void;
  /** Called when the row is no longer in progress, however its work ended. */
  ended?(row: Row): void | Promise<void>;
  /** Keeps the object alive until the work is done, if the caller of `start` does not wait for it. */
  waitUntil?(work: Promise<unknown>): void;
};

/** Works on due rows, a few at a time. */
export class DueRows<Row> implements DueJob {
  readonly #parts: DueRowsParts<Row>;
  readonly #inProgress = new Map<string | number, { row: Row; done: Promise<void> }>();
  /** How many rows the current run may still start. */
  #left = 0;

  constructor(parts: DueRowsParts<Row>) {
    this.#parts = parts;
  }

  get inProgress(): readonly Row[] {
    return Array.from(this.#inProgress.values(), ({ row }) => row);
  }

  get isFull(): boolean {
    return this.#inProgress.size >= this.#parts.atOnce;
  }

  nextDue(): number | null {
    return this.#parts.nextDue();
  }

  /** Starts what is due. Never throws, since the caller has stored its row and must succeed: the alarm starts what could not be started. */
  start(): void {
    const { perRun } = this.#parts;
    this.#left = perRun === 'all' ? Number.POSITIVE_INFINITY : perRun;
    this.#fill();
  }

  /** Resolves when nothing of it is in progress; with a number of rows, when those that are due now have ended. */
  async runDue(): Promise<void> {
    this.start();
    const working = (): Promise<void>[] => Array.from(this.#inProgress.values(), ({ done }) => done);
    if (this.#parts.atOnce > 1) await Promise.all(working());
    else while (this.#inProgress.size > 0) await Promise.all(working());
  }

  #fill(): void {
    const { due, id, claim, atOnce, log } = this.#parts;
    try {
      for (let started = -1; started !== 0; ) {
        started = 0;
        for (const row of this.#mayStart ? due(atOnce) : []) {
          const key = id(row);
          if (!this.#mayStart || this.#inProgress.has(key)) continue;
          started += 1;
          this.#left -= 1;
          const claimed = claim?.(row) ?? row;
          const done = this.#work(key, claimed);
          this.#inProgress.set(key, { row: claimed, done });
          this.#parts.waitUntil?.(done);
        }
      }
    } catch (error) {
      log.error('work that is due could not be started; it will be retried', { cause: String(error) });
    }
  }

  get #mayStart(): boolean {
    return !this.isFull && this.#left > 0;
  }

  async #work(key: string | number, row: Row): Promise<void> {
    const { work, failed, ended } = this.#parts;
    try {
      // Lets `#fill` note first that it is in progress.
      await Promise.resolve();
      await work(row);
    } catch (error) {
      failed(row, error);
    } finally {
      this.#inProgress.delete(key);
      this.#fill();
      await ended?.(row);
    }
  }
}
