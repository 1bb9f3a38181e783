/** The long texts of a delivery, in pieces: `payload` as it came, and `input`, what its agent is told, until its session has it. */
import { fromPieces, toPieces } from '../../text-pieces.ts';

export type DeliveryPart = 'payload' | 'input';

/** Answers its bytes. */
export function writePart(sql: SqlStorage, delivery: number, part: DeliveryPart, text: string): number {
  let bytes = 0;
  for (const [sequence, data] of toPieces(text).entries()) {
    sql.exec('INSERT INTO delivery_parts (delivery, part, sequence, data) VALUES (?, ?, ?, ?)', delivery, part, sequence, data);
    bytes += data.byteLength;
  }
  return bytes;
}

/** null: it is not kept (any more); an empty text is kept as none. */
export function readPart(sql: SqlStorage, delivery: number, part: DeliveryPart): string | null {
  const query = 'SELECT data FROM delivery_parts WHERE delivery = ? AND part = ? ORDER BY sequence';
  const pieces = sql.exec<{ data: ArrayBuffer }>(query, delivery, part).toArray();
  return fromPieces(pieces.map(({ data }) => data));
}

/** Overwrites its texts before they go, so that no page of the file holds them. */
export function erasePayload(sql: SqlStorage, delivery: number): void {
  sql.exec('UPDATE delivery_parts SET data = zeroblob(length(data)) WHERE delivery = ?', delivery);
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ?', delivery);
  sql.exec(
    'UPDATE deliveries SET headers = CAST(zeroblob(length(CAST(headers AS BLOB))) AS TEXT) WHERE number = ? AND headers IS NOT NULL',
    delivery,
  );
  sql.exec('UPDATE deliveries SET bytes = 0, headers = NULL WHERE number = ?', delivery);
}

/** With its row. */
export function eraseDelivery(sql: SqlStorage, delivery: number): void {
  erasePayload(sql, delivery);
  sql.exec('DELETE FROM deliveries WHERE number = ?', delivery);
}

/** Also what is noted of its bytes. */
export function dropPart(sql: SqlStorage, delivery: number, part: DeliveryPart): void {
  sql.exec('DELETE FROM delivery_parts WHERE delivery = ? AND part = ?', delivery, part);
  sql.exec(
    `UPDATE deliveries SET bytes = (SELECT coalesce(sum(length(data)), 0) FROM delivery_parts WHERE delivery = deliveries.number)
     WHERE number = ?`,
    delivery,
  );
}
