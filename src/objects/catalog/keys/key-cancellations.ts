/**
 * `DELETE /v1/keys/{id}?cancel=true`: ends all turns in the sessions of a revoked key. The work is a row in the transaction of the
 * revocation, so that it survives a crash, with a bounded number of sessions at a time. A second pass runs when no isolate trusts the key
 * any more, for what the key sent meanwhile. Sessions outside the index check their key while they run (`objects/session/object/alarm.ts`).
 */
import { limits } from '../../../core/limits/limits.ts';
import type { KeyCancellation } from '../../../ports/catalog.ts';
import { withTimeout } from '../../../engine/timeout.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { CatalogContext } from '../context.ts';
import { type DueJob, DueRows, dueTime } from '../../shared/due-job.ts';

/**
 * Canceling the turns of a revoked key: sessions at a time, retries of one, how long a DELETE waits for it, and when it is
 * repeated.
 */
export const maxCancelledSessionsAtOnce = 20;
const maxCancelAttempts = 5;
const cancelAgainMs = 35_000;

export type KeyCancellations = DueJob & {
  /** Returns the progress, after at most `waitMs`. */
  progress(keyId: string, waitMs: number): Promise<KeyCancellation>;
};

/** Call in the transaction that revokes the key. */
export function enqueueCancellation({ sql, now }: CatalogContext, keyId: string): void {
  sql.exec('DELETE FROM equipment WHERE key_id = ?', keyId);
  const statement = 'INSERT OR REPLACE INTO key_cancellations (key_id, pass, after, turns, attempts, due_at) VALUES (?, 1, 0, 0, 0, ?)';
  sql.exec(statement, keyId, now());
}

/** `cancel` ends the turns of one session of the key, and resolves with their number. */
export function createKeyCancellations(
  context: CatalogContext,
  deps: { cancel(keyId: string, session: string): Promise<number>; wake(): Promise<void> },
): KeyCancellations {
  const { sql } = context;
  const cancelBatch = async (row: Row): Promise<void> => {
    const query = 'SELECT number, id FROM sessions WHERE key_id = ? AND number > ? ORDER BY number LIMIT ?';
    const sessions = sql.exec<{ number: number; id: string }>(query, row.key_id, row.after, maxCancelledSessionsAtOnce).toArray();
    const counts = await Promise.allSettled(sessions.map(({ id }) => deps.cancel(row.key_id, id)));
    const turns = counts.reduce((sum, count) => sum + (count.status === 'fulfilled' ? count.value : 0), row.turns);
    const failed = counts.findIndex(({ status }) => status === 'rejected');
    if (failed >= 0) return notCancelled(row, turns, sessions, failed, counts[failed] as PromiseRejectedResult);
    const last = sessions.at(-1);
    if (last !== undefined && sessions.length === maxCancelledSessionsAtOnce)
      return write({ ...row, turns, after: last.number, attempts: 0 });
    if (row.pass === 1) return write({ ...row, turns, pass: 2, after: 0, attempts: 0, due_at: context.now() + cancelAgainMs });
    sql.exec('DELETE FROM key_cancellations WHERE key_id = ?', row.key_id);
  };

  /** Retries the failed session later, and skips it after `maxCancelAttempts`, so that it does not delay the others. */
  const notCancelled = (
    row: Row,
    turns: number,
    sessions: readonly { number: number; id: string }[],
    failed: number,
    cause: PromiseRejectedResult,
  ): void => {
    const isGivenUp = row.attempts >= maxCancelAttempts;
    const session = sessions[failed];
    const after = (isGivenUp ? session?.number : sessions[failed - 1]?.number) ?? row.after;
    context.log.error('the turns of a session could not be cancelled', {
      keyId: row.key_id,
      session: session?.id,
      isGivenUp,
      cause: String(cause.reason),
    });
    write({ ...row, turns, after, attempts: isGivenUp ? 0 : row.attempts + 1, due_at: context.now() + limits.publishIntervalMs });
  };

  const write = (row: Row): void => {
    const statement = 'UPDATE key_cancellations SET pass = ?, after = ?, turns = ?, attempts = ?, due_at = ? WHERE key_id = ?';
    sql.exec(statement, row.pass, row.after, row.turns, row.attempts, row.due_at, row.key_id);
  };

  const rows = new DueRows<Row>({
    ...{ log: context.log, atOnce: 1, perRun: 'all', work: cancelBatch },
    nextDue: () => dueTime(sql, 'SELECT min(due_at) AS due FROM key_cancellations'),
    due: (count) =>
      sql.exec<Row>('SELECT * FROM key_cancellations WHERE due_at <= ? ORDER BY due_at LIMIT ?', context.now(), count).toArray(),
    id: ({ key_id: keyId }) => keyId,
    failed: (row, error) => {
      context.log.error('a key could not be cancelled; it will be retried', { keyId: row.key_id, cause: String(error) });
      write({ ...row, due_at: context.now() + limits.publishIntervalMs });
    },
  });

  return {
    nextDue: () => rows.nextDue(),
    runDue: () => rows.runDue(),
    async progress(keyId, waitMs) {
      await withTimeout(systemClock, rows.runDue(), waitMs, () => undefined);
      await deps.wake();
      const row = sql.exec<Row>('SELECT * FROM key_cancellations WHERE key_id = ?', keyId).toArray()[0];
      return { cancelledTurns: row?.turns ?? 0, isDone: row === undefined || row.pass > 1 };
    },
  };
}

type Row = { key_id: string; pass: number; after: number; turns: number; attempts: number; due_at: number };
