/**
 * Cursors of paged lists: opaque to clients, base64url JSON of `["<list>", position…]` internally. A cursor of another list, or
 * anything else, is `invalid_request` at `cursor`.
 */
import { fromBase64Url, toBase64Url } from '../core/text/bytes.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import { tryParse } from '../core/json/wire-value.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';

type CursorPart = string | number;

export function encodeCursor(list: string, position: CursorPart): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([list, position])));
}

/** Returns the position in a list of text keys; undefined without a cursor. */
export function decodeTextCursor(list: string, cursor: string | undefined): string | undefined {
  const position = decode(list, cursor);
  if (position === undefined || typeof position === 'string') return position;
  throw badCursor();
}

/** Returns the position in a list of numbered rows; undefined without a cursor. */
export function decodeNumberCursor(list: string, cursor: string | undefined): number | undefined {
  const position = decode(list, cursor);
  if (position === undefined || (typeof position === 'number' && Number.isSafeInteger(position) && position >= 0)) return position;
  throw badCursor();
}

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

function fill<Position extends CursorPart, Row>(
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

function decode(list: string, cursor: string | undefined): unknown {
  if (cursor === undefined) return undefined;
  const bytes = cursor.length > limits.maxCursorLength ? null : fromBase64Url(cursor);
  const parsed = bytes === null ? undefined : tryParse(new TextDecoder().decode(bytes));
  if (!Array.isArray(parsed) || parsed.length !== 2 || parsed[0] !== list || parsed[1] === undefined || parsed[1] === null)
    throw badCursor();
  return parsed[1];
}

export function badCursor(): Error {
  return invalidRequest([{ path: 'cursor', message: 'is not a cursor of this list: omit it to start from the beginning' }]);
}
