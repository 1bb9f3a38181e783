/** Rows of deliveries with their long texts: read, converted, and erased. `deliveries.ts` and `dispatcher.ts` decide on transitions. */
import { Problem, quoted } from '../../../../core/problem.ts';
import type { Delivery, DeliveryStatus } from '../../../../core/triggers/delivery.ts';
import type { Trigger, TriggerKind } from '../../../../core/turn/turn-trigger.ts';
import type { AcceptedDelivery } from '../../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { isoTime } from '../../documents/documents.ts';
import { overwrite } from '../../records/close-database.ts';
import { readText, writeText } from '../../records/text-chunks.ts';

export type DeliveryRow = {
  number: number;
  kind: TriggerKind;
  name: string;
  id: string;
  event: string | null;
  status: DeliveryStatus;
  reason: string | null;
  agent: string | null;
  session: string | null;
  session_key: string | null;
  turn: string | null;
  run: number;
  repeats: number;
  warnings: string;
  is_json: number;
  headers: string | null;
  bytes: number;
  received_at: number;
  run_at: number;
  ended_at: number | null;
  attempts: number;
  due_at: number | null;
  held: number;
};

/** The columns that a list shows. */
export const shownColumns =
  'number, kind, name, id, event, status, reason, session, session_key, turn, run, repeats, warnings, received_at, ended_at';
export type ShownDeliveryRow = Omit<DeliveryRow, 'agent' | 'is_json' | 'headers' | 'bytes' | 'run_at' | 'attempts' | 'due_at' | 'held'>;

export function findDelivery(sql: SqlStorage, { kind, name }: Trigger, id: string): DeliveryRow | null {
  return sql.exec<DeliveryRow>('SELECT * FROM deliveries WHERE kind = ? AND name = ? AND id = ?', kind, name, id).toArray()[0] ?? null;
}

/** Throws `not_found` if it does not exist. */
export function requireDelivery(sql: SqlStorage, trigger: Trigger, id: string): DeliveryRow {
  const row = findDelivery(sql, trigger, id);
  if (row === null) throw new Problem('not_found', `The ${trigger.kind} ${quoted(trigger.name)} has no delivery ${quoted(id)}.`);
  return row;
}

export function deliveryRow(sql: SqlStorage, number: number): DeliveryRow | null {
  return sql.exec<DeliveryRow>('SELECT * FROM deliveries WHERE number = ?', number).toArray()[0] ?? null;
}

export function toDelivery(row: ShownDeliveryRow): Delivery {
  return {
    id: row.id,
    event: row.event,
    status: row.status,
    reason: row.reason,
    session: row.session,
    sessionKey: row.session_key,
    turn: row.turn,
    receivedAt: isoTime(row.received_at),
    endedAt: row.ended_at === null ? null : isoTime(row.ended_at),
    repeats: row.repeats,
    run: row.run,
    // Written only by `deliveries.ts`.
    warnings: JSON.parse(row.warnings) as string[],
  };
}

export function toAcceptedDelivery({ id, status, reason, session, turn, run }: DeliveryRow, isRepeat: boolean): AcceptedDelivery {
  return { id, status, reason, session, turn, run, isRepeat };
}

/**
 * Returns whether a run of this trigger has started, or is about to start, and has not ended. Held runs, and runs queued behind one in
 * their session, do not count: they would wait for each other.
 */
export function isDeliveryInProgress({ sql }: CatalogContext, { kind, name }: Trigger): boolean {
  const pending = "SELECT 1 FROM deliveries WHERE kind = ? AND name = ? AND status = 'pending' AND due_at IS NOT NULL LIMIT 1";
  const begun = "SELECT 1 FROM deliveries WHERE kind = ? AND name = ? AND status IN ('running', 'waiting') LIMIT 1";
  return [pending, begun].some((query) => sql.exec(query, kind, name).toArray().length > 0);
}

/** Returns how many runs are held until the previous one ends. */
export function heldCount({ sql }: CatalogContext, { kind, name }: Trigger): number {
  const query = "SELECT count(*) AS held FROM deliveries WHERE kind = ? AND name = ? AND status = 'pending' AND held = 1";
  return sql.exec<{ held: number }>(query, kind, name).one().held;
}

/** `payload` as received, and `input` for the agent, until the session has it. */
type DeliveryPart = 'payload' | 'input';

/** Returns the number of bytes. */
export function writePart(sql: SqlStorage, delivery: number, part: DeliveryPart, text: string | Uint8Array): number {
  return writeText(sql, 'delivery_parts', { delivery, part }, text);
}

/** Returns null if it is not stored (any more); an empty text is stored as no chunks. */
export function readPart(sql: SqlStorage, delivery: number, part: DeliveryPart): string | null {
  return readText(sql, 'delivery_parts', { delivery, part });
}

/** Overwrites the texts before deleting them, so that no page of the file retains them. */
export function erasePayload(sql: SqlStorage, delivery: number): void {
  overwrite(sql, 'delivery_parts', 'data', 'delivery = ?', delivery);
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ?', delivery);
  overwrite(sql, 'deliveries', 'headers', 'number = ?', delivery);
  sql.exec('UPDATE deliveries SET bytes = 0, headers = NULL WHERE number = ?', delivery);
}

/** Also deletes the row. */
export function eraseDelivery(sql: SqlStorage, delivery: number): void {
  erasePayload(sql, delivery);
  sql.exec('DELETE FROM deliveries WHERE number = ?', delivery);
}

/** Also updates the delivery's byte count. */
export function dropPart(sql: SqlStorage, delivery: number, part: DeliveryPart): void {
  overwrite(sql, 'delivery_parts', 'data', 'delivery = ? AND part = ?', delivery, part);
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ? AND part = ?', delivery, part);
  sql.exec(
    `UPDATE deliveries SET bytes = (SELECT coalesce(sum(length(data)), 0) FROM delivery_parts WHERE delivery = deliveries.number)
     WHERE number = ?`,
    delivery,
  );
}
