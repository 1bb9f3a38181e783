/**
 * The number and size of pending deliveries: counted from the table once in an object's lifetime and updated from there, since a count for
 * each delivery would make a burst quadratic.
 */
import { limits } from '../../../../core/limits/limits.ts';
import { Problem } from '../../../../core/problem.ts';
import type { Trigger } from '../../../../core/turn/turn-trigger.ts';
import { triggerKeyId } from '../../../../core/triggers/trigger-principal.ts';
import type { CatalogContext } from '../../context.ts';
import { hasRoom, type Load } from '../fair-backlog.ts';

type Backlog = Load & { byTrigger: Map<string, Load> };

const backlogs = new WeakMap<CatalogContext, Backlog>();

/** Throws `rate_limited` if the limit is reached, for all triggers or for this one. */
export function checkBacklog(context: CatalogContext, trigger: Trigger): void {
  const backlog = backlogOf(context);
  const own = backlog.byTrigger.get(triggerKeyId(trigger)) ?? none;
  const max = { rows: limits.maxPendingDeliveries, bytes: limits.maxPendingDeliveryBytes };
  if (hasRoom({ own, all: backlog, max }, { rows: 1, bytes: 1 })) return;
  throw new Problem('rate_limited', 'Too many deliveries are pending. Send this one again later.', {
    retryAfterMs: limits.backlogRetryAfterMs,
  });
}

const none: Load = { rows: 0, bytes: 0 };

/** Call when a delivery becomes pending (1) or stops being pending (-1). */
export function changeBacklog(context: CatalogContext, trigger: Trigger, rows: 1 | -1, bytes: number): void {
  const backlog = backlogs.get(context);
  if (backlog === undefined) return;
  const key = triggerKeyId(trigger);
  const own = backlog.byTrigger.get(key) ?? { ...none };
  for (const load of [backlog, own]) {
    load.rows += rows;
    load.bytes += bytes;
  }
  // One entry for each trigger with pending deliveries.
  if (own.rows > 0) backlog.byTrigger.set(key, own);
  else backlog.byTrigger.delete(key);
}

/** Call after a transaction was rolled back: counts made in it are invalid. */
export function dropBacklog(context: CatalogContext): void {
  backlogs.delete(context);
}

function backlogOf(context: CatalogContext): Backlog {
  const known = backlogs.get(context);
  if (known !== undefined) return known;
  // Uses only that index. By default SQLite chooses one in group order, and scans every delivery.
  const query = `SELECT kind, name, count(*) AS rows, sum(bytes) AS bytes FROM deliveries INDEXED BY deliveries_pending
    WHERE status = 'pending' GROUP BY kind, name`;
  const backlog: Backlog = { ...none, byTrigger: new Map() };
  for (const { kind, name, rows, bytes } of context.sql.exec<Trigger & Load>(query)) {
    backlog.byTrigger.set(triggerKeyId({ kind, name }), { rows, bytes });
    backlog.rows += rows;
    backlog.bytes += bytes;
  }
  backlogs.set(context, backlog);
  return backlog;
}
