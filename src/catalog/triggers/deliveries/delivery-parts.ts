/** The long texts of a delivery, in chunks: `payload` as received, and `input` for the agent, until the session has it. */
import { readText, writeText } from '../../records/text-chunks.ts';

export type DeliveryPart = 'payload' | 'input';

/** Returns the number of bytes. */
export function writePart(sql: SqlStorage, delivery: number, part: DeliveryPart, text: string): number {
  return writeText(sql, 'delivery_parts', { delivery, part }, text);
}

/** Returns null if it is not stored (any more); an empty text is stored as no chunks. */
export function readPart(sql: SqlStorage, delivery: number, part: DeliveryPart): string | null {
  return readText(sql, 'delivery_parts', { delivery, part });
}

/** Overwrites the texts before deleting them, so that no page of the file retains them. */
export function erasePayload(sql: SqlStorage, delivery: number): void {
  sql.exec('UPDATE delivery_parts SET data = zeroblob(length(data)) WHERE delivery = ?', delivery);
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ?', delivery);
  sql.exec(
    'UPDATE deliveries SET headers = CAST(zeroblob(length(CAST(headers AS BLOB))) AS TEXT) WHERE number = ? AND headers IS NOT NULL',
    delivery,
  );
  sql.exec('UPDATE deliveries SET bytes = 0, headers = NULL WHERE number = ?', delivery);
}

/** Also deletes the row. */
export function eraseDelivery(sql: SqlStorage, delivery: number): void {
  erasePayload(sql, delivery);
  sql.exec('DELETE FROM deliveries WHERE number = ?', delivery);
}

/** Also updates the delivery's byte count. */
export function dropPart(sql: SqlStorage, delivery: number, part: DeliveryPart): void {
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ? AND part = ?', delivery, part);
  sql.exec(
    `UPDATE deliveries SET bytes = (SELECT coalesce(sum(length(data)), 0) FROM delivery_parts WHERE delivery = deliveries.number)
     WHERE number = ?`,
    delivery,
  );
}
