/** Rows whose next attempt was set while the clock was ahead: it would come too late. Their own retries are never this far ahead. */
import { limits } from '../../../core/limits/limits.ts';
import type { CatalogContext } from '../context.ts';

/** `?1`: now; `?2`: the longest pause; `?3`: the pauses of callbacks by attempt, of which the jitter adds less than the same again. */
const setDue = [
  ...['deliveries', 'key_cancellations', 'erasures'].map((table) => `UPDATE ${table} SET due_at = ?1 WHERE due_at > ?1 + ?2`),
  `UPDATE callbacks SET due_at = ?1 WHERE due_at > ?1 + ?2
    + 2 * coalesce((SELECT value FROM json_each(?3) WHERE key = attempts), (SELECT max(value) FROM json_each(?3)))`,
];

/** Call when the clock was set back. */
export function setLateRowsDue({ sql, now, record }: CatalogContext): void {
  const pauses = JSON.stringify(limits.callbackRetriesMs);
  record(() => {
    for (const statement of setDue) {
      const given = [now(), limits.maxDispatchBackoffMs, pauses];
      sql.exec(statement, ...given.slice(0, statement.includes('?3') ? 3 : 2));
    }
  });
}
