/** Rows of callbacks: stored, claimed, ended and deleted, and the number of pending ones. `callback-sender.ts` decides when. */
import { limits } from '../../../../core/limits/limits.ts';
import {
  nextAttemptMs,
  type CallbackStatus,
  type CallbackTarget,
  type TriggerEvent,
} from '../../../../core/triggers/callbacks/callback.ts';
import { redactedBody } from '../../../../core/triggers/callbacks/turn-notice.ts';
import { overwrite } from '../../records/close-database.ts';
import { hasRoom, type Load } from '../fair-backlog.ts';
import { readText, writeText } from '../../records/text-chunks.ts';
import { MB } from '../../../../core/limits/units.ts';

/** Callbacks that are not delivered yet, over all targets; further ones become dead letters at once, which is visible. */
export const maxPendingCallbacks = 10_000;
/** Their bodies, with the same bound as those of deliveries. */
export const maxPendingCallbackBytes = 256 * MB;
/** Finished callbacks. Of further ones the oldest are deleted before their TTL, of the target that has the most. */
export const maxStoredCallbacks = 10_000;

/** `due_at` null: nothing more is sent. `attempts`: number of started attempts. */
export type CallbackRow = {
  number: number;
  id: string;
  kind: CallbackTarget['kind'];
  name: string;
  type: TriggerEvent;
  delivery: string | null;
  session: string;
  turn: string | null;
  status: CallbackStatus;
  created_at: number;
  ended_at: number | null;
  attempts: number;
  due_at: number | null;
};

type StoredAttempt = { attempt: number; at: number; status: number | null; durationMs: number; error: string | null };

/** What a message is about. `source`: the same only for a repeated notice. `session` '': no turn. */
export type CallbackSubject = Pick<CallbackRow, 'type' | 'session' | 'turn' | 'delivery'> & { source: string };
type NewCallback = { target: CallbackTarget; subject: CallbackSubject; body: string | null; bytes: number; now: number };

/** Returns its number, or null if this target already has it. Without a body it is dead immediately. */
export function insertCallback(sql: SqlStorage, { target, subject, body, bytes, now }: NewCallback): number | null {
  const status: CallbackStatus = body === null ? 'dead' : 'pending';
  const { kind, name } = target;
  const { type, session, turn, delivery, source } = subject;
  const statement = `INSERT INTO callbacks (id, source, kind, name, type, delivery, session, turn, status, created_at, ended_at, attempts, due_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?) ON CONFLICT (kind, name, source) DO NOTHING RETURNING number`;
  const about = [kind, name, type, delivery, session, turn];
  const times = body === null ? [now, now, null] : [now, null, now];
  const [row] = sql.exec<{ number: number }>(statement, newCallbackId(), source, ...about, status, ...times).toArray();
  if (row === undefined) return null;
  changeLoad(sql, target, body === null ? { ended: 1 } : { pending: 1, bytes });
  if (body !== null) writeText(sql, 'callback_bodies', { callback: row.number }, body);
  return row.number;
}

/** `webhook-id`, by which receivers detect duplicates. */
export function newCallbackId(): string {
  return `msg_${crypto.randomUUID().replaceAll('-', '')}`;
}

export function hasQueueCapacity(sql: SqlStorage, { kind, name }: CallbackTarget, bytes: number): boolean {
  const loadOf = (condition: string, ...values: string[]): Load => {
    const query = `SELECT coalesce(sum(pending), 0) AS rows, coalesce(sum(bytes), 0) AS bytes FROM callback_loads WHERE ${condition}`;
    return sql.exec<Load>(query, ...values).one();
  };
  const max = { rows: maxPendingCallbacks, bytes: maxPendingCallbackBytes };
  return hasRoom({ own: loadOf('kind = ? AND name = ?', kind, name), all: loadOf('pending > 0'), max }, { rows: 1, bytes });
}

/** Stored, since counting the rows for each message would make a burst quadratic. `bytes`: of the bodies of pending ones. */
function changeLoad(
  sql: SqlStorage,
  { kind, name }: { kind: string; name: string },
  { pending = 0, bytes = 0, ended = 0 }: { pending?: number; bytes?: number; ended?: number },
): void {
  const statement = `INSERT INTO callback_loads (kind, name, pending, bytes, ended) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (kind, name) DO UPDATE SET pending = pending + ?3, bytes = bytes + ?4, ended = ended + ?5`;
  sql.exec(statement, kind, name, pending, bytes, ended);
  sql.exec('DELETE FROM callback_loads WHERE kind = ? AND name = ? AND pending = 0 AND ended = 0', kind, name);
}

export function callbackById(sql: SqlStorage, id: string): CallbackRow | null {
  return sql.exec<CallbackRow>('SELECT * FROM callbacks WHERE id = ?', id).toArray()[0] ?? null;
}

/** Returns null if the body was not stored. */
export function readBody(sql: SqlStorage, number: number): string | null {
  return readText(sql, 'callback_bodies', { callback: number });
}

/**
 * Returns the callback that has been due longest, except for the targets in `full`. With such targets it searches target by target: ten
 * thousand callbacks of a slow target may be due longer than the first of another.
 */
export function nextDueCallback(sql: SqlStorage, full: readonly CallbackTarget[]): CallbackRow | null {
  if (full.length === 0)
    return sql.exec<CallbackRow>('SELECT * FROM callbacks WHERE due_at IS NOT NULL ORDER BY due_at, number LIMIT 1').toArray()[0] ?? null;
  const query = `SELECT * FROM callbacks WHERE due_at IS NOT NULL AND (kind, name) > (?, ?) ORDER BY kind, name, due_at, number LIMIT 1`;
  const first = ({ kind, name }: { kind: string; name: string }): CallbackRow | undefined =>
    sql.exec<CallbackRow>(query, kind, name).toArray()[0];
  let next: CallbackRow | null = null;
  for (let row = first({ kind: '', name: '' }); row !== undefined; row = first(row)) {
    const { kind, name, due_at: due } = row;
    if (full.some((target) => target.kind === kind && target.name === name)) continue;
    if (next === null || (due ?? 0) < (next.due_at ?? 0)) next = row;
  }
  return next;
}

/**
 * Records the start of an attempt before anything is sent: if the process dies, the next attempt is made as after a failure, and not while
 * this one may still be running. So an attempt that kills the process is not retried in a loop.
 */
export function claimCallback(sql: SqlStorage, row: CallbackRow, now: number): void {
  const attempt = row.attempts + 1;
  sql.exec('UPDATE callbacks SET attempts = ?, due_at = ? WHERE number = ?', attempt, now + claimMs(attempt), row.number);
  noteAttempt(sql, row.number, { attempt, at: now, status: null, durationMs: 0, error: 'Sent; the outcome is not known.' });
}

function claimMs(attempt: number): number {
  const pause = nextAttemptMs(attempt, null, 0) ?? limits.callbackRetriesMs.at(-1) ?? 0;
  return Math.max(limits.callbackClaimMs, pause);
}

/** Replaces the previous record of the same attempt. */
export function noteAttempt(sql: SqlStorage, number: number, { attempt, at, status, durationMs, error }: StoredAttempt): void {
  const statement = `INSERT INTO callback_attempts (callback, attempt, at, status, duration_ms, error) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (callback, attempt) DO UPDATE SET status = excluded.status, duration_ms = excluded.duration_ms, error = excluded.error`;
  sql.exec(statement, number, attempt, at, status, durationMs, error);
}

/** Returns the current state of a row: a manual retry, or an expired claim, may have overtaken the attempt that now reports. */
export function progressOf(sql: SqlStorage, number: number): Pick<CallbackRow, 'status' | 'attempts'> | null {
  return sql.exec<CallbackRow>('SELECT * FROM callbacks WHERE number = ?', number).toArray()[0] ?? null;
}

export function postponeCallback(sql: SqlStorage, number: number, dueAt: number): void {
  sql.exec('UPDATE callbacks SET due_at = ? WHERE number = ?', dueAt, number);
}

/** Permanent, unless it is retried manually. */
export function endCallback(sql: SqlStorage, number: number, status: 'delivered' | 'dead', now: number): void {
  const statement = 'UPDATE callbacks SET status = ?, ended_at = ?, due_at = NULL WHERE number = ? RETURNING kind, name';
  const target = sql.exec<{ kind: string; name: string }>(statement, status, now, number).one();
  changeLoad(sql, target, { pending: -1, bytes: -bodyBytes(sql, number), ended: 1 });
}

function bodyBytes(sql: SqlStorage, number: number): number {
  const query = 'SELECT coalesce(sum(length(data)), 0) AS bytes FROM callback_bodies WHERE callback = ?';
  return sql.exec<{ bytes: number }>(query, number).one().bytes;
}

/** Makes the callback due now. */
export function reopenCallback(sql: SqlStorage, row: CallbackRow, bytes: number, now: number): void {
  sql.exec("UPDATE callbacks SET status = 'pending', ended_at = NULL, due_at = ? WHERE number = ?", now, row.number);
  if (row.status !== 'pending') changeLoad(sql, row, { pending: 1, bytes, ended: -1 });
}

const keptMs = { delivered: limits.callbackTtlMs, dead: limits.deadCallbackTtlMs } as const;
const ended = ['delivered', 'dead'] as const;

/** Returns when the next ended callback is to be deleted; null: none has ended. */
export function nextCallbackSweep(sql: SqlStorage): number | null {
  const times = ended.flatMap((status) => {
    const query = 'SELECT min(ended_at) AS at FROM callbacks WHERE status = ? AND ended_at IS NOT NULL';
    const { at } = sql.exec<{ at: number | null }>(query, status).one();
    return at === null ? [] : [at + keptMs[status]];
  });
  if (countSurplus(sql) > 0) return 0;
  return times.length === 0 ? null : Math.min(...times);
}

/** Deletes old callbacks, and those above the limit; a bounded number at a time. */
export function sweepCallbacks(sql: SqlStorage, now: number): void {
  for (const status of ended) {
    const query = 'SELECT * FROM callbacks WHERE status = ? AND ended_at <= ? ORDER BY ended_at LIMIT ?';
    remove(sql, sql.exec<CallbackRow>(query, status, now - keptMs[status], limits.maxSweptRows).toArray());
  }
  const surplus = countSurplus(sql);
  if (surplus <= 0) return;
  const query = `SELECT * FROM callbacks WHERE status <> 'pending' AND (kind, name) = (SELECT kind, name FROM callback_loads ORDER BY ended DESC LIMIT 1)
    ORDER BY number LIMIT ?`;
  remove(sql, sql.exec<CallbackRow>(query, Math.min(surplus, limits.maxSweptRows)).toArray());
}

/** Returns how many ended callbacks exceed the limit. */
function countSurplus(sql: SqlStorage): number {
  return sql.exec<{ ended: number }>('SELECT coalesce(sum(ended), 0) AS ended FROM callback_loads').one().ended - maxStoredCallbacks;
}

/** Erases a callback with its texts, whatever its status. */
export function eraseCallback(sql: SqlStorage, number: number): void {
  remove(sql, sql.exec<CallbackRow>('SELECT * FROM callbacks WHERE number = ?', number).toArray());
}

/** After its session was deleted: texts of sent callbacks are erased, and pending ones are redacted. */
export function redactCallback(sql: SqlStorage, number: number, { isPending }: { isPending: boolean }): void {
  const body = isPending ? readBody(sql, number) : null;
  replaceBody(sql, number, body === null ? null : redactedBody(body));
}

/** Of a pending callback, or null. */
export function replaceBody(sql: SqlStorage, number: number, body: string | null): void {
  const bytes = bodyBytes(sql, number);
  overwriteTexts(sql, number);
  sql.exec('DELETE FROM callback_bodies WHERE callback = ?', number);
  if (body === null) return;
  const written = writeText(sql, 'callback_bodies', { callback: number }, body);
  const statement = 'UPDATE callback_loads SET bytes = bytes + ? WHERE (kind, name) = (SELECT kind, name FROM callbacks WHERE number = ?)';
  sql.exec(statement, written - bytes, number);
}

/** A receiver may have repeated the message in its error. */
function overwriteTexts(sql: SqlStorage, number: number): void {
  overwrite(sql, 'callback_bodies', 'data', 'callback = ?', number);
  overwrite(sql, 'callback_attempts', 'error', 'callback = ?', number);
  sql.exec('UPDATE callback_attempts SET error = NULL WHERE callback = ?', number);
}

function remove(sql: SqlStorage, rows: readonly CallbackRow[]): void {
  for (const row of rows) {
    const { number, status } = row;
    changeLoad(sql, row, status === 'pending' ? { pending: -1, bytes: -bodyBytes(sql, number) } : { ended: -1 });
    overwriteTexts(sql, number);
    sql.exec('DELETE FROM callback_bodies WHERE callback = ?', number);
    sql.exec('DELETE FROM callback_attempts WHERE callback = ?', number);
    sql.exec('DELETE FROM callbacks WHERE number = ?', number);
  }
}
