/**
 * An outbox: what another object is to receive is stored with the change that it is about, in the same transaction, and sent afterwards in
 * order, a batch at a time, at least once. One flush runs at a time, so that nothing is sent twice at the same time; after a failure or a crash
 * rows are sent again, and the receiver recognizes them by their position or revision. Rows whose workspace was deleted meanwhile are dropped.
 * A timer of the object, set with the row, flushes what is left. Rows that are each due at a different time are due work (`due-job.ts`).
 */
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { Logger } from '../../ports/runtime.ts';

/** Where the rows are: a table, or a state of which the newest revision is sent. */
export type OutboxRows<Row> = {
  /** Returns the oldest rows, one batch; none: everything was sent. */
  read(): readonly Row[];
  /** Deletes rows that were sent, except those that were changed meanwhile. */
  remove(sent: readonly Row[]): void;
};

/** The object that has the outbox. */
export type OutboxHost = {
  now(): number;
  log: Logger;
  /** For the log. */
  session: string;
  /** Whether the rows are no longer to be sent, because they were deleted with the session. */
  isGone(): boolean;
  /** Keeps the object alive until the work is done. */
  waitUntil(work: Promise<unknown>): void;
};

export type OutboxParts<Row> = OutboxHost & {
  rows: OutboxRows<Row>;
  /** Resolves when the receiver has stored all of them. */
  send(rows: readonly Row[]): Promise<void>;
  /** What the rows are, for the log. */
  what: string;
  timer: { set(due: number): void; clear(): void };
  retryMs?: number;
  /** A flush is waited for this long; it continues without those who wait. */
  waitMs?: number;
};

export class Outbox<Row> {
  readonly #parts: Required<OutboxParts<Row>>;
  #sending: Promise<void> | null = null;
  /** false: not known. Only this object writes the rows. */
  #isEmpty = false;

  constructor(parts: OutboxParts<Row>) {
    this.#parts = { retryMs: limits.noticeRetryMs, waitMs: limits.noticeWaitMs, ...parts };
  }

  /** Call in the transaction that stores a row: the timer is durable with it, so that it is sent even if the process dies. */
  added(delayMs = this.#parts.retryMs): void {
    this.#isEmpty = false;
    this.#parts.timer.set(this.#parts.now() + delayMs);
  }

  /** Sends in the background. */
  send(): void {
    this.#parts.waitUntil(this.flush());
  }

  /** Sends what is stored, also what is added meanwhile. Returns false if something is left, which the timer sends. Never throws. */
  async flush(): Promise<boolean> {
    const { isGone, timer, now, retryMs, waitMs, log, session, what } = this.#parts;
    if (isGone()) return true;
    try {
      if (!this.#isEmpty) this.#sending ??= this.#sendAll();
      if (this.#sending !== null)
        await withTimeout(systemClock, this.#sending, waitMs, () => {
          throw new Error('no response in time');
        });
    } catch (error) {
      log.error(`${what} could not be sent; it will be retried`, { session, error: String(error) });
      if (!isGone()) timer.set(now() + retryMs);
      return false;
    }
    if (this.#isEmpty && !isGone()) timer.clear();
    return true;
  }

  /** Settles when nothing is in flight, however it ended. */
  async settled(): Promise<void> {
    await this.#sending?.catch(() => undefined);
  }

  async #sendAll(): Promise<void> {
    const { rows, isGone } = this.#parts;
    try {
      for (;;) {
        // Lets the transaction of a new row end, and the caller store the returned promise in `#sending`.
        await Promise.resolve();
        if (isGone()) return;
        const batch = rows.read();
        this.#isEmpty = batch.length === 0;
        if (this.#isEmpty) return;
        await this.#deliver(batch);
        if (!isGone()) rows.remove(batch);
      }
    } finally {
      // Cleared in the same tick as the last read: rows that are added from now on are sent by another flush.
      this.#sending = null;
    }
  }

  /** Receivers find nothing else than the workspace: if it was deleted, every retry would fail, and a session could never end. */
  async #deliver(batch: readonly Row[]): Promise<void> {
    const { send, log, session, what } = this.#parts;
    try {
      await send(batch);
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'not_found')) throw error;
      log.error(`${what} were dropped: their workspace was deleted`, { session, rows: batch.length, error: String(error) });
    }
  }
}

type TableStatements<Row> = {
  /** Returns rows by their `sequence`, as many as its parameter says. */
  next: string;
  /** Deletes the row of a `sequence` if its column `changes` is the same: another row may have its number meanwhile. */
  remove: string;
  changes: keyof Row & string;
  batch: number;
};

export function tableRows<Row extends { sequence: number } & Record<string, SqlStorageValue>>(
  sql: SqlStorage,
  { next, remove, changes, batch }: TableStatements<Row>,
): OutboxRows<Row> {
  return {
    read: () => sql.exec<Row>(next, batch).toArray(),
    remove: (sent) => {
      for (const row of sent) sql.exec(remove, row.sequence, row[changes]);
    },
  };
}
