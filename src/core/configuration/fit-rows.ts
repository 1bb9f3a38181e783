/** Limits the rows of a result to those that fit; the rest is counted, and no row is cut. */
import { utf8Length } from '../text/utf8.ts';

/** Returns the first rows within so many bytes of JSON, at least one; the remaining bytes; and the number of rows left out. */
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
