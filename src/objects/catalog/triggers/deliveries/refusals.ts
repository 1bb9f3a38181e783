/** How many requests to a webhook had no valid signature, by day. Nothing of these requests is stored. */
import { limits } from '../../../../core/limits/limits.ts';
import { wasClockSettled } from '../../../../platform/settled-clock.ts';
import { dayOf } from '../../../../core/records/usage.ts';
import type { RefusedDeliveries } from '../../../../core/triggers/delivery.ts';
import type { RefusalCount } from '../../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { findRow, isoTime } from '../../documents/documents.ts';

const dayMs = 24 * 60 * 60_000;

/** Also deletes counts of a time when the clock was ahead. */
export function addRefusals({ sql, now }: CatalogContext, refusals: readonly RefusalCount[]): void {
  const at = now();
  if (wasClockSettled()) sql.exec('DELETE FROM refused_deliveries WHERE day > ?', dayOf(at + dayMs));
  const add = `INSERT INTO refused_deliveries (webhook, day, count, last_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (webhook, day) DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at`;
  for (const { webhook, count } of refusals) if (findRow(sql, 'webhook', webhook) !== null) sql.exec(add, webhook, dayOf(at), count, at);
}

/** Deletes the counts of days that are no longer listed. */
export function dropRefusals({ sql, now }: CatalogContext): void {
  sql.exec('DELETE FROM refused_deliveries WHERE day < ?', dayOf(now() - limits.deliveryTtlMs));
}

/** Newest day first. `from`: milliseconds since the epoch. */
export function listRefusals(
  { sql, now }: CatalogContext,
  { webhook, from = 0 }: { webhook?: string; from?: number },
): RefusedDeliveries[] {
  const query = `SELECT webhook, day, count, last_at FROM refused_deliveries WHERE day >= ? AND webhook = coalesce(?, webhook)
    ORDER BY day DESC, webhook LIMIT ?`;
  const since = dayOf(Math.max(from, now() - limits.deliveryTtlMs));
  const rows = sql.exec<{ webhook: string; day: string; count: number; last_at: number }>(
    query,
    since,
    webhook ?? null,
    limits.maxPageItems,
  );
  return Array.from(rows, ({ last_at: lastAt, ...row }) => ({ ...row, lastAt: isoTime(lastAt) }));
}
