/**
 * Closes the database after a deletion, which checkpoints and removes SQLite's write-ahead log: until then the log contains old pages. The
 * runtime allows no explicit checkpoint, so the object terminates itself when it is idle, and opens again with the next request. Only for
 * self-hosted files (`MONIKER_CLOSE_AFTER_DELETE`, set by `npm start`): on Cloudflare there is no such file.
 */
import type { Clock } from '../../ports/runtime.ts';

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
  /** How many requests have started so far. */
  requests(): number;
  sync(): Promise<void>;
  /** Terminates the object. */
  abort(): void;
};

/** Call after every request and when the object opens. */
export function createDatabaseCloser({ sql, clock, isIdle, requests, sync, abort }: Host): () => void {
  let isArmed = false;
  const isRequested = (): boolean => sql.exec("SELECT 1 FROM meta WHERE key = 'close'").toArray().length > 0;
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
    const seen = requests();
    sql.exec("DELETE FROM meta WHERE key = 'close'");
    await sync();
    abortUnused(seen, deliveryChecks);
  };
  const abortUnused = (seen: number, checks: number): void => {
    clock.after(deliveryCheckMs, () => {
      // A request that started in the meantime may have ended, but its response is still on its way.
      if (!isIdle() || requests() !== seen) {
        requestClose(sql);
        arm();
      } else if (checks > 1) abortUnused(seen, checks - 1);
      else abort();
    });
  };
  return arm;
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
