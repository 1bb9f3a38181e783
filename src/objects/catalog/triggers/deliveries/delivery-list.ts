/** Shows deliveries of a trigger with their payloads, and of all webhooks without, newest first. Also reads the payload for a replay. */
import { Problem, quoted } from '../../../../core/problem.ts';
import type { DeliveryStatus, DeliveryWithPayload, WebhookDelivery } from '../../../../core/triggers/delivery.ts';
import type { Trigger } from '../../../../core/turn/turn-trigger.ts';
import type { Page } from '../../../../ports/catalog.ts';
import type { DeliveryQuery, StoredPayload, WebhookDeliveryQuery } from '../../../../ports/triggers.ts';
import { decodeNumberCursor, encodeCursor } from '../../../../core/json/cursor.ts';
import { newestFirst } from '../../../../storage/list-pages.ts';
import type { CatalogContext } from '../../context.ts';
import { isDroppedDelivery } from '../../records/dropped-work.ts';
import { type DeliveryRow, readPart, requireDelivery, shownColumns, type ShownDeliveryRow, toDelivery } from './delivery-rows.ts';

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

/** Rows that one page reads: a filter may match few. */
const maxScannedRows = 5_000;

/** Ends at the first delivery that was received before `from`. */
export function listWebhookDeliveries({ sql }: CatalogContext, query: WebhookDeliveryQuery): Page<WebhookDelivery> {
  const { webhook, status, from = 0, cursor, limit } = query;
  const erased = erasedUpTo(sql);
  const items: WebhookDelivery[] = [];
  let scanned = 0;
  let last = decodeNumberCursor(listName, cursor) ?? Number.MAX_SAFE_INTEGER;
  let lastShown = last;
  for (const row of webhookRows(sql, webhook, last)) {
    if (row.received_at < from) return { items, nextCursor: null };
    scanned += 1;
    last = row.number;
    const isKept = row.number > (erased.get(row.name) ?? 0) || isDroppedDelivery(row);
    const isShown = row.kind === 'webhook' && (status === undefined || row.status === status) && isKept;
    if (!isShown) continue;
    if (items.length === limit) return { items, nextCursor: encodeCursor(listName, lastShown) };
    items.push({ webhook: row.name, ...toDelivery(row) });
    lastShown = row.number;
  }
  return { items, nextCursor: scanned < maxScannedRows ? null : encodeCursor(listName, last) };
}

const listName = 'webhook deliveries';

function webhookRows(sql: SqlStorage, webhook: string | undefined, before: number): Iterable<ShownDeliveryRow> {
  return webhook === undefined
    ? sql.exec<ShownDeliveryRow>(allRowsBefore, before, maxScannedRows)
    : sql.exec<ShownDeliveryRow>(rowsOfWebhookBefore, webhook, before, maxScannedRows);
}

const allRowsBefore = `SELECT ${shownColumns} FROM deliveries WHERE number < ? ORDER BY number DESC LIMIT ?`;
const rowsOfWebhookBefore = `SELECT ${shownColumns} FROM deliveries WHERE kind = 'webhook' AND name = ? AND number < ? ORDER BY number DESC LIMIT ?`;

/** The newest delivery of each deleted webhook whose rows are still being erased. */
function erasedUpTo(sql: SqlStorage): Map<string, number> {
  const rows = sql.exec<{ name: string; delivery: number }>("SELECT name, delivery FROM erasures WHERE kind = 'webhook'");
  return new Map(Array.from(rows, ({ name, delivery }) => [name, delivery]));
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
