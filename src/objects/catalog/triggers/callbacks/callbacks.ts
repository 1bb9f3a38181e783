/**
 * Callbacks to external receivers: created from notices, one for each target, and shown with their attempts. `callback-sender.ts`
 * sends them; `callback-rows.ts` has the rows.
 */
import { Problem, quoted } from '../../../../core/problem.ts';
import type { Callback, CallbackAttempt, CallbackTarget, CallbackWithBody } from '../../../../core/triggers/callbacks/callback.ts';
import { type HeldOffer, type HeldTool, heldBody } from '../../../../core/triggers/callbacks/held-notice.ts';
import { callbackBody, type TurnNotice } from '../../../../core/triggers/callbacks/turn-notice.ts';
import { utf8Length } from '../../../../core/text/utf8.ts';
import type { Page } from '../../../../ports/catalog.ts';
import type { CallbackQuery } from '../../../../ports/triggers.ts';
import { newestFirst } from '../../../../storage/list-pages.ts';
import type { CatalogContext } from '../../context.ts';
import { isoTime } from '../../documents/documents.ts';
import { hasQueueCapacity, insertCallback, noteAttempt, readBody, reopenCallback, callbackById } from './callback-rows.ts';
import type { CallbackRow, CallbackSubject } from './callback-rows.ts';
import { subscribersOf, targetsOf } from './callback-targets.ts';

/** The newest attempts of one callback: all of them unless it was retried manually many times. */
const maxShownAttempts = 50;

/** Adds one message for each target; a repeated notice adds nothing. Call in the transaction that updates the delivery. */
export function enqueueCallbacks(context: CatalogContext, notice: TurnNotice): void {
  const { type } = notice;
  if (type === 'turn.resumed') return;
  const targets = targetsOf(context, { ...notice, type });
  if (targets.length === 0) return;
  const { session, turn, trigger, sequence } = notice;
  // A session that is deleted and created again under its name counts from 1 again, but its turns have other ids.
  const source = [session, turn, trigger?.run ?? 0, sequence].join(' ');
  enqueue(context, targets, { type, session, turn, delivery: trigger?.delivery ?? null, source }, callbackBody(notice));
}

/** Adds one message for each subscription. Call in the transaction that stores the listing. */
export function enqueueHeld(context: CatalogContext, server: string, tools: readonly HeldTool[], offers: readonly HeldOffer[] = []): void {
  const type = 'definition.held';
  const targets = tools.length + offers.length === 0 ? [] : subscribersOf(context.sql, type);
  if (targets.length === 0) return;
  const now = context.now();
  const source = [type, server, now, tools[0]?.refId ?? offers[0]?.refId].join(' ');
  enqueue(context, targets, { type, session: '', turn: null, delivery: null, source }, heldBody(server, tools, offers, now));
}

function enqueue(context: CatalogContext, targets: readonly CallbackTarget[], subject: CallbackSubject, body: string): void {
  const { sql } = context;
  const bytes = utf8Length(body);
  for (const target of targets) {
    const isTooMuch = !hasQueueCapacity(sql, target, bytes);
    const number = insertCallback(sql, { target, subject, body: isTooMuch ? null : body, bytes, now: context.now() });
    if (number === null || !isTooMuch) continue;
    const error = 'Not sent: too many callbacks of this receiver, or of all, are pending. Fix or remove receivers that do not respond.';
    noteAttempt(sql, number, { attempt: 0, at: context.now(), status: null, durationMs: 0, error });
    context.log.error('dropped a callback: too many are pending', {
      ...target,
      type: subject.type,
      session: subject.session,
      turn: subject.turn,
    });
  }
}

/** Newest first. */
export function listCallbacks({ sql }: CatalogContext, query: CallbackQuery): Page<Callback> {
  const read = (before: number, count: number) => rowsBefore(sql, query, before, count);
  const { items, nextCursor } = newestFirst('callbacks', query, read, (row) => row);
  const attempts = attemptsOf(sql, items);
  return { items: items.map((row) => toCallback(row, attempts)), nextCursor };
}

/** Uses the narrowest index for the given filters. A missing filter is null, and matches every row. */
function rowsBefore(sql: SqlStorage, query: CallbackQuery, before: number, count: number): CallbackRow[] {
  const { delivery, status = null, kind = null, name = null } = query;
  if (delivery !== undefined) {
    const text = `SELECT * FROM callbacks WHERE delivery = ? AND number < ? AND coalesce(status = ?, 1) AND coalesce(kind = ?, 1)
      AND coalesce(name = ?, 1) ORDER BY number DESC LIMIT ?`;
    return sql.exec<CallbackRow>(text, delivery, before, status, kind, name, count).toArray();
  }
  if (kind !== null && name !== null) {
    const text =
      'SELECT * FROM callbacks WHERE kind = ? AND name = ? AND number < ? AND coalesce(status = ?, 1) ORDER BY number DESC LIMIT ?';
    return sql.exec<CallbackRow>(text, kind, name, before, status, count).toArray();
  }
  if (status !== null) {
    const text = 'SELECT * FROM callbacks WHERE status = ? AND number < ? AND coalesce(kind = ?, 1) ORDER BY number DESC LIMIT ?';
    return sql.exec<CallbackRow>(text, status, before, kind, count).toArray();
  }
  const text = 'SELECT * FROM callbacks WHERE number < ? AND coalesce(kind = ?, 1) ORDER BY number DESC LIMIT ?';
  return sql.exec<CallbackRow>(text, before, kind, count).toArray();
}

/** Throws `not_found`. */
export function readCallback({ sql }: CatalogContext, id: string): CallbackWithBody {
  const row = requireRow(sql, id);
  const body = readBody(sql, row.number);
  return { ...toCallback(row, attemptsOf(sql, [row])), body: body === null ? null : JSON.parse(body) };
}

/** Makes it due now. Throws `conflict` if it was delivered, or its body is not stored. */
export function retryCallback(context: CatalogContext, id: string): Callback {
  const { sql } = context;
  const row = requireRow(sql, id);
  if (row.status === 'delivered') throw new Problem('conflict', `The callback ${quoted(id)} was already delivered and is not sent again.`);
  const body = readBody(sql, row.number);
  if (body === null)
    throw new Problem(
      'conflict',
      `The body of the callback ${quoted(id)} was not stored, because too many were pending. Read the turn from its session.`,
    );
  context.record(() => reopenCallback(sql, row, utf8Length(body), context.now()));
  const after = requireRow(sql, id);
  return toCallback(after, attemptsOf(sql, [after]));
}

function requireRow(sql: SqlStorage, id: string): CallbackRow {
  const row = callbackById(sql, id);
  if (row === null) throw new Problem('not_found', `The callback ${quoted(id)} does not exist.`);
  return row;
}

function toCallback(row: CallbackRow, attempts: Attempts): Callback {
  const { number, id, type, kind, name, delivery, session, turn, status } = row;
  return {
    ...{ id, type, target: { kind, name }, delivery, session: session || null, turn, status },
    createdAt: isoTime(row.created_at),
    nextAttemptAt: row.due_at === null ? null : isoTime(row.due_at),
    attempts: attempts.get(number) ?? [],
  };
}

type Attempts = ReadonlyMap<number, CallbackAttempt[]>;

/** Returns the newest attempts by callback number, oldest first: as many as there are automatic retries, and a few manual ones. */
function attemptsOf(sql: SqlStorage, rows: readonly CallbackRow[]): Attempts {
  type AttemptRow = { callback: number; at: number; status: number | null; duration_ms: number; error: string | null };
  const query = `SELECT callback, at, status, duration_ms, error FROM
      (SELECT *, row_number() OVER (PARTITION BY callback ORDER BY attempt DESC) AS place FROM callback_attempts
       WHERE callback IN (SELECT value FROM json_each(?)))
    WHERE place <= ? ORDER BY callback, attempt`;
  const numbers = JSON.stringify(rows.map(({ number }) => number));
  const found = new Map<number, CallbackAttempt[]>(rows.map(({ number }) => [number, []]));
  for (const { callback, at, status, duration_ms, error } of sql.exec<AttemptRow>(query, numbers, maxShownAttempts))
    found.get(callback)?.push({ at: isoTime(at), status, durationMs: duration_ms, error });
  return found;
}
