/** Reads all pages of a Catalog list, up to `maxPages`. */
import { limits } from '../../core/limits.ts';
import type { Catalog, DocumentKind, Page, PageRequest, StoredDocument } from '../../ports/catalog.ts';

/** Twice the number of pages that all tools of a workspace fill. */
const maxPages = 2 * limits.maxListedPages;

export async function readAllPages<Item>(read: (page: PageRequest) => Promise<Page<Item>>): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const page: Page<Item> = await read({ limit: limits.maxPageItems, ...(cursor !== null && { cursor }) });
    items.push(...page.items);
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  return items;
}

export function readAllDocuments(catalog: Pick<Catalog, 'list'>, kind: DocumentKind): Promise<StoredDocument[]> {
  return readAllPages((page) => catalog.list(kind, page));
}
