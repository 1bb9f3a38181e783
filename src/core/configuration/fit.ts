/** Rows of an answer, as many as one answer holds: the rest is counted, and never half told. */
import { utf8Length } from '../utf8.ts';

/** The first rows within so many bytes of JSON, at least one of them; what is left of the room; and how many rows are left out. */
export function fitRows<Row>(rows: readonly Row[], room: number): { rows: Row[]; room: number; leftOut: number } {
  const fitting: Row[] = [];
  let left = room;
  for (const row of rows) {
    const bytes = utf8Length(JSON.stringify(row)) + 1;
    if (fitting.length > 0 && bytes > left) break;
    fitting.push(row);
    left -= bytes;
  }
  return { rows: fitting, room: left, leftOut: rows.length - fitting.length };
}
