/**
 * How much is on its way to sessions: counted from the table once in an object's life, and kept along with it from there, since a count
 * for each delivery would make a burst quadratic.
 */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { CatalogContext } from '../context.ts';

type Backlog = { deliveries: number; bytes: number };

const backlogs = new WeakMap<CatalogContext, Backlog>();

/** Throws `rate_limited` where there is no room for one more. */
export function checkBacklog(context: CatalogContext): void {
  const { deliveries, bytes } = backlogOf(context);
  if (deliveries < limits.maxPendingDeliveries && bytes < limits.maxPendingDeliveryBytes) return;
  throw new Problem('rate_limited', 'Too many deliveries are on their way to their sessions. Send this one again later.', {
    retryAfterMs: limits.backlogRetryAfterMs,
  });
}

/** What was pending is so no more, or the other way round. */
export function changeBacklog(context: CatalogContext, deliveries: 1 | -1, bytes: number): void {
  const backlog = backlogs.get(context);
  if (backlog === undefined) return;
  backlog.deliveries += deliveries;
  backlog.bytes += bytes;
}

/** A transaction was undone: what was counted in it did not happen. */
export function dropBacklog(context: CatalogContext): void {
  backlogs.delete(context);
}

function backlogOf(context: CatalogContext): Backlog {
  const known = backlogs.get(context);
  if (known !== undefined) return known;
  // Answered by the index alone.
  const query = "SELECT count(*) AS deliveries, coalesce(sum(bytes), 0) AS bytes FROM deliveries WHERE status = 'pending'";
  const backlog = { ...context.sql.exec<Backlog>(query).one() };
  backlogs.set(context, backlog);
  return backlog;
}
