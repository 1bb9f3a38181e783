/**
 * Pages of MCP lists. The cursor is opaque to clients; its position is the state and the page. A cursor of another list, or of an
 * older state of the list, is rejected (MCP, pagination: "Invalid cursors SHOULD result in an error with code -32602").
 */
import { badCursor, decodeCursor, encodeCursor } from '../../core/json/cursor.ts';
import { isCount } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';

/** `state`: identifies the state of the list that the pages were made from. */
export function listPageAt<Item>(
  list: string,
  state: string,
  pages: readonly (readonly Item[])[],
  cursor: string | undefined,
): { items: readonly Item[]; nextCursor?: string } {
  const index = readCursor(list, state, cursor);
  const items = pages[index];
  if (items === undefined) throw badCursor();
  if (index + 1 >= pages.length) return { items };
  return { items, nextCursor: encodeCursor(list, [state, index + 1]) };
}

function readCursor(list: string, state: string, cursor: string | undefined): number {
  const [itsState, index] = decodeCursor(list, cursor, isPosition) ?? [state, 0];
  if (itsState !== state) throw badCursor('belongs to an earlier state of the list');
  return index;
}

function isPosition(value: unknown): value is [state: string, page: number] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && isCount(value[1]);
}

/** Splits a list into pages of the default size. */
export function paginateList<Item>(items: readonly Item[], size: number = limits.maxMcpPageItems): Item[][] {
  const pages: Item[][] = [];
  for (let start = 0; start < items.length || start === 0; start += size) pages.push(items.slice(start, start + size));
  return pages;
}
