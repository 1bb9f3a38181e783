/**
 * Deletes old deliveries: payloads after a week or above a total size, rows after a month or above a number per trigger. Only ended
 * deliveries lose their rows, and a bounded number at a time. Age counts from the end: a turn may have waited for approval for days.
 */
import { limits } from '../../../../core/limits/limits.ts';
import { isClockSettled } from '../../../../platform/settled-clock.ts';
import type { Trigger } from '../../../../core/turn/turn-trigger.ts';
import { triggerKeyId } from '../../../../core/triggers/trigger-principal.ts';
import type { CatalogContext } from '../../context.ts';
import type { DueJob } from '../../../shared/due-job.ts';
import { eraseDelivery, erasePayload } from './delivery-rows.ts';

/** By age. Overdue rows wait for `limits.sweepIntervalMs`, so that one alarm deletes many. */
export function createDeliverySweep(context: CatalogContext): DueJob {
  const { sql } = context;
  let ranAt = 0;
  // A run in the future was one with a wrong clock.
  const earliest = (): number => (ranAt > context.now() ? 0 : ranAt + limits.sweepIntervalMs);
  return {
    nextDue: () => {
      const due = Math.min(oldest(sql, hasEnded) + limits.deliveryTtlMs, oldest(sql, hasEndedWithParts) + limits.deliveryPayloadTtlMs);
      return due === Number.POSITIVE_INFINITY ? null : Math.max(due, earliest());
    },
    runDue: async () => {
      const now = context.now();
      if (now < earliest()) return;
      ranAt = now;
      if (!(await isClockSettled())) return;
      const rows = dropOld(context, hasEnded, now - limits.deliveryTtlMs, eraseDelivery);
      const swept = rows + dropOld(context, hasEndedWithParts, now - limits.deliveryPayloadTtlMs, erasePayload);
      // If the maximum number was deleted, more may be left: continue immediately.
      ranAt = swept < limits.maxSweptRows ? now : 0;
    },
  };
}

/**
 * By number, after one was stored. Checks the trigger occasionally: for the first delivery of this object, and after each
 * `limits.maxSweptRows`.
 */
export function sweepExcessDeliveries(context: CatalogContext, trigger: Trigger): void {
  const counts = acceptedSince.get(context) ?? new Map<string, number>();
  acceptedSince.set(context, counts);
  const key = triggerKeyId(trigger);
  const accepted = counts.get(key) ?? limits.maxSweptRows;
  counts.set(key, accepted < limits.maxSweptRows ? accepted + 1 : 1);
  if (accepted >= limits.maxSweptRows) dropSurplus(context, trigger);
}

/** At most one entry per trigger. */
const acceptedSince = new WeakMap<CatalogContext, Map<string, number>>();

/**
 * By size, after this many bytes were stored. Checks occasionally: at the first delivery of this object, and after each
 * `limits.payloadWeighingBytes`.
 */
export function sweepWeight(context: CatalogContext, bytes: number): void {
  const since = (storedSince.get(context) ?? limits.payloadRecountBytes) + bytes;
  const isEnough = since < limits.payloadRecountBytes || dropHeavy(context);
  storedSince.set(context, isEnough && since >= limits.payloadRecountBytes ? 0 : since);
}

const storedSince = new WeakMap<CatalogContext, number>();

/**
 * Deletes the oldest payloads above `limits.maxKeptPayloadBytes`, also of running turns, which have their own copy. Returns false if more
 * are left.
 */
function dropHeavy({ sql }: CatalogContext): boolean {
  const total = "SELECT coalesce(sum(bytes), 0) AS bytes FROM deliveries WHERE bytes > 0 AND status <> 'pending'";
  let surplus = sql.exec<{ bytes: number }>(total).one().bytes - limits.maxStoredPayloadBytes;
  if (surplus <= 0) return true;
  const query = "SELECT number, bytes FROM deliveries WHERE bytes > 0 AND status <> 'pending' ORDER BY number LIMIT ?";
  for (const { number, bytes } of sql.exec<{ number: number; bytes: number }>(query, limits.maxSweptRows).toArray()) {
    if (surplus <= 0) return true;
    erasePayload(sql, number);
    surplus -= bytes;
  }
  return surplus <= 0;
}

/** Deletes the oldest ended ones above `limits.maxKeptDeliveries`: twice as many as may have been added, so that an excess shrinks. */
function dropSurplus({ sql }: CatalogContext, { kind, name }: Trigger): void {
  const newest = 'SELECT number FROM deliveries WHERE kind = ? AND name = ? ORDER BY number DESC LIMIT 1 OFFSET ?';
  const surplus = sql.exec<{ number: number }>(newest, kind, name, limits.maxStoredDeliveries).toArray()[0];
  if (surplus === undefined) return;
  const query =
    'SELECT number FROM deliveries WHERE kind = ? AND name = ? AND number <= ? AND ended_at IS NOT NULL ORDER BY number LIMIT ?';
  const rows = sql.exec<{ number: number }>(query, kind, name, surplus.number, 2 * limits.maxSweptRows).toArray();
  for (const { number } of rows) eraseDelivery(sql, number);
}

/** Calls `drop` for the deliveries that ended before this time, at most `limits.maxSweptRows`, and returns their number. */
function dropOld({ sql, record }: CatalogContext, condition: string, endedBefore: number, drop: typeof eraseDelivery): number {
  const query = `SELECT number FROM deliveries WHERE ${condition} AND ended_at <= ? ORDER BY ended_at LIMIT ?`;
  const rows = sql.exec<{ number: number }>(query, endedBefore, limits.maxSweptRows).toArray();
  record(() => {
    for (const { number } of rows) drop(sql, number);
  });
  return rows.length;
}

const hasEnded = 'ended_at IS NOT NULL';
const hasEndedWithParts = 'ended_at IS NOT NULL AND bytes > 0';

/** Returns Infinity if there is none. */
function oldest(sql: SqlStorage, condition: string): number {
  const query = `SELECT min(ended_at) AS at FROM deliveries WHERE ${condition}`;
  return sql.exec<{ at: number | null }>(query).one().at ?? Number.POSITIVE_INFINITY;
}
