/**
 * Accepted work that ends with the deletion of a document: deliveries that have not begun, and callbacks that were not delivered. It is named
 * in the answer and in the audit, and the deliveries stay in their lists, without what they contained.
 */
import type { DroppedWork } from '../../../core/records/audit.ts';
import type { Warning } from '../../../core/problem.ts';
import type { DocumentKind } from '../../../ports/catalog.ts';
import type { CatalogContext } from '../context.ts';

/** Reasons of deliveries. */
const notBegun = 'It was deleted before this delivery began.';
const maybeBegun = 'It was deleted while this delivery was on its way to its session, where it may have begun.';
const isDropped = `status = 'cancelled' AND reason IN ('${notBegun}', '${maybeBegun}')`;

type Target = { kind: string; name: string };

/** Returns null if nothing was accepted that would end. */
export function countDropped(context: CatalogContext, target: Target): DroppedWork | null {
  const [deliveries, callbacks] = [countDeliveries(context, target, 'pending'), countCallbacks(context, target)];
  return deliveries === 0 && callbacks === 0 ? null : { deliveries, callbacks };
}

/** What a deletion means for accepted work. An agent's deliveries are tried, fail, and can be replayed. */
export function droppedWarnings(context: CatalogContext, kind: DocumentKind, name: string): Warning[] {
  const { sql } = context;
  if (kind === 'agent') {
    const query = "SELECT count(*) AS count FROM deliveries WHERE status = 'pending' AND agent = ?";
    const { count } = sql.exec<{ count: number }>(query, name).one();
    return warnings([['deliveries', count, 'accepted and not begun fail without the agent and can be replayed']]);
  }
  const target = { kind, name };
  const begun = countDeliveries(context, target, 'running') + countDeliveries(context, target, 'waiting');
  return warnings([
    ['deliveries', countDeliveries(context, target, 'pending'), 'accepted and not begun are cancelled and listed so'],
    ['turns', begun, 'begun by it go on in their sessions without a callback at their end'],
    ['callbacks', countCallbacks(context, target), 'not delivered yet are not sent any more'],
  ]);
}

function warnings(counts: readonly (readonly [what: string, count: number, message: string])[]): Warning[] {
  return counts.flatMap(([path, count, message]) => (count === 0 ? [] : [{ path, message: `${count} ${message}` }]));
}

/** Ends the deliveries that have not begun. Their texts are erased with those of the others. */
export function cancelNotBegun({ sql, now }: CatalogContext, { kind, name }: Target): void {
  const statement = `UPDATE deliveries SET status = 'cancelled', reason = CASE WHEN attempts = 0 THEN ? ELSE ? END, ended_at = ?, due_at = NULL,
    held = 0, session_key = NULL, warnings = '[]' WHERE kind = ? AND name = ? AND status = 'pending'`;
  sql.exec(statement, notBegun, maybeBegun, now(), kind, name);
}

/** Deliveries of a deleted trigger that are to be erased, and whether the row stays. */
export const deliveriesToErase = `SELECT number, ${isDropped} AS isDropped FROM deliveries WHERE kind = ? AND name = ? AND number <= ?
  AND (bytes > 0 OR headers IS NOT NULL OR NOT (${isDropped})) LIMIT ?`;

/** Of a trigger that has the name again, a sender may send such a delivery once more. */
export function isDroppedDelivery({ status, reason }: { status: string; reason: string | null }): boolean {
  return status === 'cancelled' && (reason === notBegun || reason === maybeBegun);
}

function countDeliveries({ sql }: CatalogContext, { kind, name }: Target, status: string): number {
  const query = 'SELECT count(*) AS count FROM deliveries WHERE kind = ? AND name = ? AND status = ?';
  return sql.exec<{ count: number }>(query, kind, name, status).one().count;
}

function countCallbacks({ sql }: CatalogContext, { kind, name }: Target): number {
  return (
    sql.exec<{ pending: number }>('SELECT pending FROM callback_loads WHERE kind = ? AND name = ?', kind, name).toArray()[0]?.pending ?? 0
  );
}
