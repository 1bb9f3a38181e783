/** The prompts, resources and templates of MCP servers in the Catalog: stored with their reviews, and published as far as they are in force. */
import { type ReviewedOffer, showOffer, type StoredOffer } from '../../../core/listing/stored-offer.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import type { Page, PageRequest } from '../../../ports/catalog.ts';
import { sortedPage } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { overwrite } from '../records/close-database.ts';
import { readText, writeText } from '../records/text-chunks.ts';

/** Call in a write's transaction. */
export function storeOffers(sql: SqlStorage, server: string, offers: readonly StoredOffer[]): void {
  overwrite(sql, 'server_offers', 'data', 'server = ?', server);
  sql.exec('DELETE FROM server_offers WHERE server = ?', server);
  if (offers.length > 0) writeText(sql, 'server_offers', { server }, JSON.stringify(offers));
}

export function readOffers(sql: SqlStorage, server: string): StoredOffer[] {
  const text = readText(sql, 'server_offers', { server });
  return text === null ? [] : (JSON.parse(text) as StoredOffer[]); // Written by `storeOffers` only.
}

export function listOffers({ sql }: CatalogContext, server: string, page: PageRequest): Page<ReviewedOffer> {
  requireRow(sql, 'server', server);
  const all = readOffers(sql, server)
    .map(showOffer)
    .sort((a, b) => (positionOf(a) < positionOf(b) ? -1 : 1));
  const read = (after: string, count: number): ReviewedOffer[] => all.filter((offer) => positionOf(offer) > after).slice(0, count);
  const bytes = (offer: ReviewedOffer): number => utf8Length(JSON.stringify(offer));
  return sortedPage<ReviewedOffer>(`offers of ${server}`, page, read, { position: positionOf, bytes });
}

function positionOf({ kind, name }: Pick<ReviewedOffer, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}
