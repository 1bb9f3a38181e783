/** Reads lists that come in pages. */
import { limits } from '../core/limits/limits.ts';
import type { Page, PageRequest } from '../ports/catalog.ts';

/** `maxPages`: more than that are not read. `cursor`: where to begin; absent: at the start. */
type Reading = { limit: number; maxPages: number; cursor?: string | undefined };

/** Returns the items of the pages that were read, as one page. */
export async function readPages<Item>(
  read: (page: PageRequest) => Promise<Page<Item>>,
  { limit, maxPages, cursor }: Reading,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let nextCursor: string | null = cursor ?? null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Item> = await read({ limit, ...(nextCursor !== null && { cursor: nextCursor }) });
    items.push(...page.items);
    nextCursor = page.nextCursor;
    if (nextCursor === null) break;
  }
  return { items, nextCursor };
}

/** Twice the number of pages that all tools of a workspace fill. */
const maxPagesOfAll = 100;

export async function readAllPages<Item>(read: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  return (await readPages(read, { limit: limits.maxPageItems, maxPages: maxPagesOfAll })).items;
}
