/** Pages of stored lists: how one is read from rows, and where the next one continues. */
import { decodeNumberCursor, decodeTextCursor, encodeCursor } from '../core/json/cursor.ts';
import { limits } from '../core/limits/limits.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';

type Read<Position, Row> = (position: Position, count: number) => Iterable<Row>;

/** Returns a page of numbered rows, newest first. `read`: those below a number. A page whose `bytes` exceed `limits.listPageBytes` ends early. */
export function newestFirst<Row extends { number: number }, Item>(
  list: string,
  page: PageRequest,
  read: Read<number, Row>,
  toItem: (row: Row) => Item,
  bytes: (row: Row) => number = () => 0,
): Page<Item> {
  const before = decodeNumberCursor(list, page.cursor) ?? Number.MAX_SAFE_INTEGER;
  const { items, nextCursor } = fill(list, { ...page, read }, before, { position: ({ number }) => number, bytes });
  return { items: items.map(toItem), nextCursor };
}

/** Returns a page in the order of a text. `read`: what follows a text. `first` sorts before all of them. */
export function sortedPage<Row>(
  list: string,
  page: PageRequest & { maxItems?: number; first?: string },
  read: Read<string, Row>,
  measure: Measure<string, Row>,
): Page<Row> {
  return fill(list, { ...page, read }, decodeTextCursor(list, page.cursor) ?? page.first ?? '', measure);
}

type Measure<Position, Row> = { position(row: Row): Position; bytes(row: Row): number };

function fill<Position extends string | number, Row>(
  list: string,
  { limit, maxItems = limits.maxPageItems, read }: PageRequest & { maxItems?: number; read: Read<Position, Row> },
  start: Position,
  { position, bytes }: Measure<Position, Row>,
): Page<Row> {
  const count = Math.min(limit, maxItems);
  const items: Row[] = [];
  let size = 0;
  for (const row of read(start, count + 1)) {
    const last = items.at(-1);
    size += bytes(row);
    if (last !== undefined && (items.length === count || size > limits.listPageBytes))
      return { items, nextCursor: encodeCursor(list, position(last)) };
    items.push(row);
  }
  return { items, nextCursor: null };
}
