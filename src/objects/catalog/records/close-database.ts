/**
 * Closes the database after a deletion, which checkpoints and removes SQLite's write-ahead log: until then the log contains old pages. The
 * runtime allows no explicit checkpoint, so the object terminates itself when it is idle, and opens again with the next request. Only for
 * self-hosted files (`MONIKER_CLOSE_AFTER_DELETE`, set by `npm start`): on Cloudflare there is no such file.
 */
import type { Clock } from '../../../ports/runtime.ts';

/** After a deletion the Catalog closes its database when it has been idle for this long. */
const closeAfterMs = 250;

/**
 * The last response must reach its caller before, who would otherwise repeat a write that was made. Several short waits, not a long one: when
 * the process was stopped for a moment, a timer that is due can run before the responses that are ready to be sent.
 */
const deliveryChecks = 5;
const deliveryCheckMs = 20;

type Host = {
  sql: SqlStorage;
  clock: Pick<Clock, 'after'>;
  isIdle(): boolean;
  sync(): Promise<void>;
  /** Terminates the object. */
  abort(): void;
};

export type DatabaseCloser = ReturnType<typeof createDatabaseCloser>;

export function createDatabaseCloser({ sql, clock, isIdle, sync, abort }: Host) {
  let isArmed = false;
  let gate: PromiseWithResolvers<void> | null = null;
  const isRequested = (): boolean => sql.exec("SELECT 1 FROM meta WHERE key = 'close'").toArray().length > 0;
  /** Call after every request and when the object opens. */
  const arm = (): void => {
    if (isArmed || !isRequested()) return;
    isArmed = true;
    clock.after(closeAfterMs, () => {
      isArmed = false;
      if (isIdle()) void close();
      else arm();
    });
  };
  const close = async (): Promise<void> => {
    gate = Promise.withResolvers();
    sql.exec("DELETE FROM meta WHERE key = 'close'");
    await sync();
    abortIfIdle(deliveryChecks);
  };
  const abortIfIdle = (checks: number): void => {
    clock.after(deliveryCheckMs, () => {
      if (!isIdle()) reopen();
      else if (checks > 1) abortIfIdle(checks - 1);
      else void abortSynced();
    });
  };
  const abortSynced = async (): Promise<void> => {
    // Work in the background may have written.
    await sync();
    if (isIdle()) abort();
    else reopen();
  };
  /** For work in the background, such as an alarm, which does not wait. */
  const reopen = (): void => {
    requestClose(sql);
    gate?.resolve();
    gate = null;
    arm();
  };
  /**
   * Await it before a request starts; null: it can start at once. While the database closes, a request must not start, since its response
   * would be lost: it waits until the object ends, and its caller sends it to the next object.
   */
  const closing = (): Promise<void> | null => gate?.promise ?? null;
  return { arm, closing };
}

/** Call in a transaction that deletes data that must not remain in the file. */
export function requestClose(sql: SqlStorage): void {
  sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('close', '')");
}

/**
 * Overwrites a text or bytes with zeros of the same length. Call before the value is replaced or deleted, so that no page of the file retains
 * it. Returns whether there was a value.
 */
export function overwrite(
  sql: SqlStorage,
  table: string,
  column: string,
  condition: string,
  ...bindings: readonly (string | number | null)[]
): boolean {
  const zeros = `zeroblob(length(CAST(${column} AS BLOB)))`;
  const statement = `UPDATE ${table} SET ${column} = iif(typeof(${column}) = 'blob', ${zeros}, CAST(${zeros} AS TEXT))
    WHERE ${condition} AND ${column} IS NOT NULL`;
  return sql.exec(statement, ...bindings).rowsWritten > 0;
}
