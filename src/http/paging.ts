/** `?cursor=&limit=` → `{items, nextCursor}`, the same for every list. */
import * as z from 'zod';
import { isUnbound } from '../core/people/authority.ts';
import { limits } from '../core/limits/limits.ts';
import type { Principal } from '../core/people/principal.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';
import { decodeTextCursor, encodeCursor } from '../core/json/cursor.ts';

const defaultPageItems = 50;

export const pageFields = {
  cursor: z.string().min(1).max(limits.maxCursorLength).optional().meta({ description: 'The `nextCursor` of the previous page.' }),
  limit: z.coerce.number().int().min(1).max(limits.maxPageItems).default(defaultPageItems),
};

export const PageQuery = z.strictObject(pageFields);

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable().meta({ description: 'null on the last page.' }) });
}

export type KeyedList<Item> = {
  /** The name of the list in cursors. */
  list: string;
  query: PageRequest;
  all(page: PageRequest): Promise<Page<Item>>;
  /** All items that a bound key may see, sorted by name in code units. */
  own(): Promise<readonly Item[]>;
  nameOf(item: Item): string;
};

/**
 * Returns a page of the Catalog for an unbound key. For a bound key, the cursor contains the last visible item, so it reveals nothing
 * hidden.
 */
export async function pageFor<Item>(principal: Principal, { list, query, all, own, nameOf }: KeyedList<Item>): Promise<Page<Item>> {
  if (isUnbound(principal)) return await all(query);
  const after = decodeTextCursor(`own ${list}`, query.cursor) ?? '';
  const left = (await own()).filter((item) => nameOf(item) > after);
  const items = left.slice(0, query.limit);
  const last = items.at(-1);
  return { items, nextCursor: last === undefined || left.length === items.length ? null : encodeCursor(`own ${list}`, nameOf(last)) };
}

/**
 * Returns a page of documents with the items that exist without one, in the order of their names. A document of the same name takes
 * precedence.
 */
export function withUnstored<Item extends { name: string }>(
  { list, query }: Pick<KeyedList<Item>, 'list' | 'query'>,
  page: Page<Item>,
  unstored: readonly Item[],
): Page<Item> {
  if (unstored.length === 0) return page;
  const after = decodeTextCursor(list, query.cursor) ?? '';
  const end = page.nextCursor === null ? null : (page.items.at(-1)?.name ?? after);
  const stored = new Set(page.items.map(({ name }) => name));
  const added = unstored.filter(({ name }) => name > after && (end === null || name <= end) && !stored.has(name));
  const all = [...page.items, ...added].sort((a, b) => (a.name < b.name ? -1 : 1));
  const items = all.slice(0, query.limit);
  const last = items.at(-1);
  return { items, nextCursor: last === undefined || items.length === all.length ? page.nextCursor : encodeCursor(list, last.name) };
}
