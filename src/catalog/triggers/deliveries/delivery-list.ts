/** Shows deliveries with their payloads, newest first. Also reads the payload for a replay. */
import { Problem, quoted } from '../../../core/problem.ts';
import type { DeliveryStatus, DeliveryWithPayload, Trigger } from '../../../core/triggers/delivery.ts';
import type { Page } from '../../../ports/catalog.ts';
import type { DeliveryQuery, StoredPayload } from '../../../ports/triggers.ts';
import { newestFirst } from '../../../storage/cursor.ts';
import type { CatalogContext } from '../../context.ts';
import { type DeliveryRow, readPart, requireDelivery, toDelivery } from './delivery-rows.ts';

export function readDelivery({ sql }: CatalogContext, trigger: Trigger, id: string): DeliveryWithPayload {
  return withPayload(sql, requireDelivery(sql, trigger, id));
}

/** A page ends early if its payloads are large. */
export function listDeliveries({ sql }: CatalogContext, trigger: Trigger, query: DeliveryQuery): Page<DeliveryWithPayload> {
  const { kind, name } = trigger;
  const read = (before: number, count: number) => rowsBefore(sql, trigger, query.status, before, count);
  return newestFirst(
    `deliveries ${kind} ${name}`,
    query,
    read,
    (row) => withPayload(sql, row),
    ({ bytes }) => bytes,
  );
}

/** Throws `conflict` if it is no longer stored. */
export function readDeliveryPayload({ sql }: CatalogContext, trigger: Trigger, id: string): StoredPayload {
  const row = requireDelivery(sql, trigger, id);
  const payload = keptPayload(sql, row);
  if (payload === null && trigger.kind === 'webhook')
    throw new Problem('conflict', `The payload of the delivery ${quoted(id)} is no longer stored. Ask the sender to send it again.`);
  return { delivery: toDelivery(row), event: row.event, payload };
}

function rowsBefore(
  sql: SqlStorage,
  { kind, name }: Trigger,
  status: DeliveryStatus | undefined,
  before: number,
  count: number,
): DeliveryRow[] {
  if (status === undefined) {
    const query = 'SELECT * FROM deliveries WHERE kind = ? AND name = ? AND number < ? ORDER BY number DESC LIMIT ?';
    return sql.exec<DeliveryRow>(query, kind, name, before, count).toArray();
  }
  const query = 'SELECT * FROM deliveries WHERE kind = ? AND name = ? AND status = ? AND number < ? ORDER BY number DESC LIMIT ?';
  return sql.exec<DeliveryRow>(query, kind, name, status, before, count).toArray();
}

function withPayload(sql: SqlStorage, row: DeliveryRow): DeliveryWithPayload {
  const payload = keptPayload(sql, row);
  return { ...toDelivery(row), payload: payload === null ? null : payload.isJson ? JSON.parse(payload.text) : payload.text };
}

/** Headers mark a stored payload: an empty text has no chunks. */
function keptPayload(sql: SqlStorage, row: DeliveryRow): StoredPayload['payload'] {
  if (row.headers === null) return null;
  // Written only by `deliveries.ts`.
  const headers = JSON.parse(row.headers) as Record<string, string>;
  return { text: readPart(sql, row.number, 'payload') ?? '', isJson: row.is_json === 1, headers };
}
