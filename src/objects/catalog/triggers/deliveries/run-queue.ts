/**
 * The queue of pending deliveries, and its order. Of the pending deliveries of one session only the oldest has a due time; the next one
 * gets its own when that one is taken or has failed. So due deliveries are found by one index lookup, however many are queued. A run of a
 * schedule may also be held until the previous run ends.
 * Call all of these in a transaction.
 */
import { type DeliveryStatus, isSettled, type Rendered } from '../../../../core/triggers/delivery.ts';
import type { Trigger } from '../../../../core/turn/turn-trigger.ts';
import type { CatalogContext } from '../../context.ts';
import { changeBacklog } from './backlog.ts';
import { deliveryRow, type DeliveryRow, dropPart, isDeliveryInProgress, writePart } from './delivery-rows.ts';

export type QueuedRun = { number: number; agent: string; session: string; turn: string; rendered: Rendered; held: boolean };

/** The row exists and is not pending. */
export function queueRun(context: CatalogContext, { number, agent, session, turn, rendered, held }: QueuedRun): void {
  const { sql } = context;
  const now = context.now();
  const isFirst = firstPending(sql, session) === null;
  const added = writePart(sql, number, 'input', rendered.input);
  const statement = `UPDATE deliveries SET status = 'pending', reason = NULL, agent = ?, session = ?, session_key = ?, turn = ?, warnings = ?,
    held = ?, bytes = bytes + ?, run_at = ?, ended_at = NULL, attempts = 0, due_at = ? WHERE number = ?`;
  const dueAt = isFirst && !held ? now : null;
  const warnings = JSON.stringify(rendered.warnings);
  sql.exec(statement, agent, session, rendered.sessionKey, turn, warnings, held ? 1 : 0, added, now, dueAt, number);
  const row = deliveryRow(sql, number);
  if (row !== null) changeBacklog(context, row, 1, row.bytes);
}

/** Returns due deliveries, longest due first. */
export function dueRuns({ sql, now }: CatalogContext, count: number): DeliveryRow[] {
  const query = 'SELECT * FROM deliveries WHERE due_at <= ? ORDER BY due_at, number LIMIT ?';
  return sql.exec<DeliveryRow>(query, now(), count).toArray();
}

/** Returns null if no delivery has a due time. */
export function nextDueRun({ sql }: CatalogContext): number | null {
  return sql.exec<{ due: number | null }>('SELECT min(due_at) AS due FROM deliveries WHERE due_at IS NOT NULL').one().due;
}

/** Moves a delivery on from `pending`, `running` or `waiting`. `reason` null: no reason is shown. */
export function setDeliveryStatus(context: CatalogContext, row: DeliveryRow, status: DeliveryStatus, reason: string | null): void {
  const { sql } = context;
  const now = context.now();
  const statement = 'UPDATE deliveries SET status = ?, reason = ?, ended_at = ?, due_at = NULL, held = 0 WHERE number = ?';
  sql.exec(statement, status, reason, isSettled(status) ? now : null, row.number);
  if (row.status === 'pending') {
    changeBacklog(context, row, -1, -row.bytes);
    // Its session has it now, or never will.
    dropPart(sql, row.number, 'input');
    if (row.session !== null) releaseNextRun(sql, row.session, now);
  }
  if (isSettled(status)) releaseHeld(context, row);
}

/** Skips runs that are held until the previous one ends: at most `limits.maxQueuedScheduleRuns`. */
export function skipHeld(context: CatalogContext, { kind, name }: Trigger, reason: string): void {
  const { sql } = context;
  const query = "SELECT * FROM deliveries WHERE kind = ? AND name = ? AND status = 'pending' AND held = 1 ORDER BY number";
  const rows = sql.exec<DeliveryRow>(query, kind, name).toArray();
  // Otherwise the end of each would release the next one.
  for (const { number } of rows) sql.exec('UPDATE deliveries SET held = 0 WHERE number = ?', number);
  for (const row of rows) setDeliveryStatus(context, row, 'skipped', reason);
}

/** Releases the oldest held run of a schedule without a run in progress. */
function releaseHeld(context: CatalogContext, trigger: Trigger): void {
  if (trigger.kind !== 'schedule' || isDeliveryInProgress(context, trigger)) return;
  const { sql } = context;
  const query = `SELECT number, session FROM deliveries WHERE kind = ? AND name = ? AND status = 'pending' AND held = 1
    ORDER BY number LIMIT 1`;
  const next = sql.exec<{ number: number; session: string }>(query, trigger.kind, trigger.name).toArray()[0];
  if (next === undefined) return;
  sql.exec('UPDATE deliveries SET held = 0 WHERE number = ?', next.number);
  releaseNextRun(sql, next.session, context.now());
}

function releaseNextRun(sql: SqlStorage, session: string, now: number): void {
  const next = firstPending(sql, session);
  if (next === null || next.held === 1 || next.due_at !== null) return;
  sql.exec('UPDATE deliveries SET due_at = ?, run_at = ? WHERE number = ?', now, now, next.number);
}

type QueuedRow = Pick<DeliveryRow, 'number' | 'held' | 'due_at'>;

function firstPending(sql: SqlStorage, session: string): QueuedRow | null {
  const query = "SELECT number, held, due_at FROM deliveries WHERE status = 'pending' AND session = ? ORDER BY number LIMIT 1";
  return sql.exec<QueuedRow>(query, session).toArray()[0] ?? null;
}
