/**
 * Pages of MCP lists. The cursor is opaque to clients; it is `[list, state, page]` as base64url JSON. A cursor of another list, or of an
 * older state of the list, is rejected (MCP, pagination: "Invalid cursors SHOULD result in an error with code -32602").
 */
import { fromBase64Url, toBase64Url } from '../../core/text/bytes.ts';
import { limits } from '../../core/limits.ts';
import { invalidRequest } from '../../core/problem.ts';

/** `state`: identifies the state of the list that the pages were made from. */
export function listPageAt<Item>(
  list: string,
  state: string,
  pages: readonly (readonly Item[])[],
  cursor: string | undefined,
): { items: readonly Item[]; nextCursor?: string } {
  const index = cursor === undefined ? 0 : readCursor(list, state, cursor);
  const items = pages[index];
  if (items === undefined) throw badCursor('does not belong to this list: omit it to start again');
  if (index + 1 >= pages.length) return { items };
  return { items, nextCursor: toBase64Url(new TextEncoder().encode(JSON.stringify([list, state, index + 1]))) };
}

function readCursor(list: string, state: string, cursor: string): number {
  const parsed = cursor.length > limits.maxCursorLength ? null : parse(cursor);
  const [itsList, itsState, index] = Array.isArray(parsed) ? parsed : [];
  if (itsList !== list || typeof index !== 'number' || !Number.isSafeInteger(index) || index < 1)
    throw badCursor('does not belong to this list: omit it to start again');
  if (itsState !== state) throw badCursor('belongs to an earlier state of the list: omit it to start again');
  return index;
}

function parse(cursor: string): unknown {
  const bytes = fromBase64Url(cursor);
  if (bytes === null) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // An undecodable cursor was not created here.
    return null;
  }
}

function badCursor(message: string): Error {
  return invalidRequest([{ path: 'cursor', message }]);
}

/** Splits a list into pages of the default size. */
export function paginateList<Item>(items: readonly Item[], size: number = limits.maxMcpPageItems): Item[][] {
  const pages: Item[][] = [];
  for (let start = 0; start < items.length || start === 0; start += size) pages.push(items.slice(start, start + size));
  return pages;
}
