/**
 * A log of the audit in an object's SQLite: rows are only appended, each with the SHA-256 of its content and of the row before it, so that a
 * row that was changed, removed or inserted later breaks the chain (`audit-chain.ts`). The Catalog has one for changes of the configuration,
 * each audit shard one for calls. An intent stays a row; its outcome is a later row of the same call and supersedes it in lists.
 *
 * - `audit_log(number, at, call, entry, hash)`: the rows, numbered without gaps. `at`: when it was stored. `call`: identifies the call, null for
 *   changes. `entry`: `AuditRow` or `AuditChange` (JSON).
 * - `audit_heads(number, …)`: signed hashes of the chain at a row. `is_checkpoint`: of the last row that retention deleted.
 * - `audit_state`: one row. `delay_ms`: no entry was stored later than this after its own time, since a session sends its rows at the end of a
 *   turn. `swept_at`, `sweep_due`, `fault`: of the deletion of old rows.
 */
import type { AuditFilter, AuditRow } from '../../core/records/audit.ts';
import { sha256HexSync } from '../../core/hash.ts';
import type { LogEntry, LogHead, LogPage, LogRequest } from '../../ports/audit-log.ts';

export const auditLogSchema = `
  CREATE TABLE audit_log (number INTEGER PRIMARY KEY, at INTEGER!, call TEXT, entry TEXT!, hash TEXT!);
  CREATE INDEX audit_log_by_call ON audit_log (call) WHERE call IS!;
  CREATE TABLE audit_heads (number INTEGER PRIMARY KEY, at INTEGER!, hash TEXT!, is_checkpoint INTEGER!, mac TEXT!);
  CREATE TABLE audit_state (delay_ms INTEGER!, swept_at INTEGER, sweep_due INTEGER, fault TEXT);
  INSERT INTO audit_state (delay_ms) VALUES (60000);
`;

/** The stored delay, as above, only increases from this. */
const initialDelayMs = 60_000;

/** `name`: `changes`, or the number of the shard. */
export type AuditLog = { sql: SqlStorage; workspace: string; name: string; now(): number };

/** Rows that one request reads at most, so that a filter that matches little does not hold the object. */
const maxScannedRows = 20_000;
/** A clock that was wrong by more than this is not followed: `at` may then decrease once. */
const maxClockLeadMs = 24 * 60 * 60_000;
/** Clocks of different machines. */
const clockSkewMs = 60_000;

/** Appends a row, in the transaction of the caller. */
export function appendEntry(log: AuditLog, call: string | null, entry: string): void {
  appendAfter(log, newestRow(log), call, entry);
}

function appendAfter(log: AuditLog, last: LogHead, call: string | null, entry: string): void {
  const number = last.number + 1;
  const now = log.now();
  const at = last.at > now && last.at - now < maxClockLeadMs ? last.at : now;
  const insert = 'INSERT INTO audit_log (number, at, call, entry, hash) VALUES (?, ?, ?, ?, ?)';
  log.sql.exec(insert, number, at, call, entry, hashOf(last.hash, { number, at, call, entry }));
}

/**
 * Appends a row of a call, unless it is stored already or is about a call of a session whose outcome is stored. If it throws, the row is not
 * stored; several rows need a transaction of the caller.
 */
export function appendCall(log: AuditLog, row: AuditRow): void {
  const isNumbered = row.session !== null && row.sequence !== null;
  const call = isNumbered ? `${row.session}:${row.sequence}` : row.callId;
  // Without null members, which lists add again: the rows of calls are most of what the audit stores.
  const entry = JSON.stringify(row, (_name, value: unknown) => value ?? undefined);
  // One statement instead of two: every call waits for its row.
  const [newest] = log.sql.exec<LogHead & { stored: string | null }>(newestWithCall, call).toArray();
  const stored = newest?.stored ?? null;
  if (stored === entry) return;
  if (stored !== null && isNumbered && !isOpen(JSON.parse(stored) as AuditRow)) return;
  // First: if the row cannot be written, a longer delay does no harm.
  noteDelay(log, Date.parse(row.at));
  appendAfter(log, newest ?? startOf(log), call, entry);
}

const newestWithCall = `SELECT number, at, hash, (SELECT entry FROM audit_log WHERE call = ? ORDER BY number DESC LIMIT 1) AS stored
  FROM audit_log ORDER BY number DESC LIMIT 1`;

/** Doubles the stored delay, so that it is rarely written. */
function noteDelay({ sql, now }: AuditLog, time: number): void {
  const delay = now() - time;
  if (delay > initialDelayMs && delay > readDelay(sql)) sql.exec('UPDATE audit_state SET delay_ms = ?', delay * 2);
}

function readDelay(sql: SqlStorage): number {
  return sql.exec<{ ms: number }>('SELECT delay_ms AS ms FROM audit_state').one().ms;
}

function isOpen({ verdict }: AuditRow): boolean {
  return verdict === 'outcome_unknown' || verdict === 'waiting';
}

/** Of a log whose rows were read before its heads. The rows behind the last head are signed again. */
export function dropLaterHeads(sql: SqlStorage): void {
  sql.exec('DELETE FROM audit_heads WHERE is_checkpoint = 0 AND number > (SELECT max(number) FROM audit_log)');
}

export type StoredRow = { number: number; at: number; call: string | null; entry: string };

/** Returns the hash of the chain at a row. The call is part of it because lists hide superseded rows by it. */
export function hashOf(previous: string, { number, at, call, entry }: StoredRow): string {
  return sha256HexSync(new TextEncoder().encode(`${previous}\n${number}\n${at}\n${call ?? ''}\n${entry}`));
}

/** The newest row; of an empty log the last one that was deleted, and of a new log the start of its chain. */
export function newestRow(log: AuditLog): LogHead {
  const query = 'SELECT number, at, hash FROM audit_log ORDER BY number DESC LIMIT 1';
  return log.sql.exec<LogHead>(query).toArray()[0] ?? startOf(log);
}

/** Where the chain begins: after the rows that retention deleted. */
export function startOf({ sql, workspace, name }: Pick<AuditLog, 'sql' | 'workspace' | 'name'>): LogHead {
  const query = 'SELECT number, at, hash FROM audit_heads WHERE is_checkpoint = 1 ORDER BY number DESC LIMIT 1';
  const genesis = sha256HexSync(new TextEncoder().encode(JSON.stringify(['audit', workspace, name])));
  return sql.exec<LogHead>(query).toArray()[0] ?? { number: 0, at: 0, hash: genesis };
}

/** Newest first, without intents that a later row of their call supersedes. */
export function readLog({ sql }: Pick<AuditLog, 'sql'>, request: LogRequest): LogPage {
  const newest = sql.exec<{ number: number | null }>('SELECT max(number) AS number FROM audit_log').one().number ?? 0;
  const oldest = sql.exec<{ number: number | null }>('SELECT min(number) AS number FROM audit_log').one().number ?? 1;
  const atOf = (number: number): number =>
    sql.exec<{ at: number }>('SELECT at FROM audit_log WHERE number = ?', number).toArray()[0]?.at ?? 0;
  const firstAfter = (time: number): number => bisect(oldest, newest + 1, (number) => atOf(number) > time);
  const end = Math.min(
    request.before ?? newest + 1,
    request.to === undefined ? newest + 1 : firstAfter(Date.parse(request.to) + readDelay(sql)),
  );
  const start = request.from === undefined ? oldest : firstAfter(Date.parse(request.from) - clockSkewMs);
  const floor = Math.max(start, end - maxScannedRows);
  const entries = sql.exec<LogEntry>(readEntries, floor, end, ...filterValues(request), request.limit).toArray();
  const last = entries.length === request.limit ? entries.at(-1) : undefined;
  const next = last?.number ?? floor;
  return next <= start ? { entries, next: 0, nextAt: 0 } : { entries, next, nextAt: last?.at ?? atOf(floor) };
}

/** Returns the first number of `[low, high)` for which the condition holds, `high` if none. The condition holds from one number on. */
function bisect(low: number, high: number, condition: (number: number) => boolean): number {
  let [first, end] = [low, high];
  while (first < end) {
    const middle = Math.floor((first + end) / 2);
    if (condition(middle)) end = middle;
    else first = middle + 1;
  }
  return first;
}

/** The condition of a filter on the column `entry`; its values are `filterValues`. */
const filterCondition = `(? IS NULL OR coalesce(entry ->> '$.kind', 'call') = ?)
  AND (? IS NULL OR entry ->> '$.session' = ?)
  AND (? IS NULL OR coalesce(entry ->> '$.canonical', entry ->> '$.requested') = ?)
  AND (? IS NULL OR entry ->> '$.verdict' = ?)
  AND (? IS NULL OR entry ->> '$.code' = ?)
  AND (? IS NULL OR entry ->> '$.keyId' = ?)
  AND (? IS NULL OR entry ->> '$.agent' = ?)
  AND (? IS NULL OR entry ->> '$.at' >= ?)
  AND (? IS NULL OR entry ->> '$.at' <= ?)`;

function filterValues({ kind, session, tool, verdict, code, key, agent, from, to }: AuditFilter): (string | null)[] {
  return [kind, session, tool, verdict, code, key, agent, from, to].flatMap((value) => [value ?? null, value ?? null]);
}

const readEntries = `SELECT number, at, entry AS text FROM audit_log WHERE number >= ? AND number < ? AND ${filterCondition}
  AND NOT (entry ->> '$.verdict' IN ('outcome_unknown', 'waiting') AND EXISTS
    (SELECT 1 FROM audit_log AS later WHERE later.call = audit_log.call AND later.number > audit_log.number))
  ORDER BY number DESC LIMIT ?`;
