/**
 * The pages of MCP apps, which definitions of tools name in `_meta`: their URIs at their servers, and as clients get them. Computed from the
 * toolset's tools alone, so that a list of tools needs nothing else. `serve-offers.ts` uses the same table for what servers list.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import { isOurUri, serverOfOffer } from '../../core/names/offer-pattern.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { createOfferIndex, type ResourceEntry, toOfferEntry } from '../../core/toolset/offer-entry.ts';
import { nameAll, type OwnOffer, uriOfServer } from './offer-names.ts';

type Meta = Record<string, unknown>;

/** The earlier name of `ui.resourceUri` (`RESOURCE_URI_META_KEY` of `@modelcontextprotocol/ext-apps`), and that of OpenAI's Apps SDK. */
const flatKeys = ['ui/resourceUri', 'openai/outputTemplate'] as const;

/** Returns `_meta` with other URIs of pages. */
export function withPages(meta: Meta, shown: (own: string) => string): Meta {
  const changed: Meta = {};
  for (const key of flatKeys) if (typeof meta[key] === 'string') changed[key] = shown(meta[key]);
  const { ui } = meta;
  if (isRecord(ui) && typeof ui.resourceUri === 'string') changed.ui = { ...ui, resourceUri: shown(ui.resourceUri) };
  return { ...meta, ...changed };
}

/** `uris`: of pages that tools of this server name. */
export type PagesOfServer = { server: string; trusted: boolean; uris: readonly string[] };

/** Pages by the URI that clients get. */
export type PageNames = {
  pages: ReadonlyMap<string, { server: string; own: string }>;
  /** Returns the URI that clients get; undefined: no tool of this server names this page. */
  nameOf(server: string, own: string): string | undefined;
};

/**
 * A page that two servers name has its server in its URI. So does a page of a server that is not trusted, beside trusted ones: a URI that one of
 * these lists is not taken. `entries`: of the toolset, which may give other URIs.
 */
export function namePages(servers: readonly PagesOfServer[], entries: readonly ResourceEntry[] = []): PageNames {
  const index = createOfferIndex(entries);
  const taken = new Set(entries.map(toOfferEntry).flatMap(({ uri, aliases = [] }) => [uri ?? [], aliases].flat()));
  const isTrusted = servers.some(({ trusted }) => trusted);
  const named = servers.flatMap(({ server, trusted, uris }) =>
    uris.map((own): OwnOffer => ({ server, trusted, own, offer: {}, entry: null })),
  );
  const isReserved = ({ trusted, own }: OwnOffer): boolean => isOurUri(own) || (isTrusted && !trusted);
  const given = ({ server, own }: OwnOffer): string | undefined => index.find(`${server}.${own}`)?.uri;
  const pages = nameAll(named, { member: 'uri', withServer: uriOfServer, taken, given, isReserved });
  const names = new Map([...pages].map(([shown, { server, own }]) => [JSON.stringify([server, own]), shown]));
  return { pages, nameOf: (server, own) => names.get(JSON.stringify([server, own])) };
}

/** A server that only entries for resources and prompts name may be trusted: the edition does not say so. */
export const pageNamesOf = memoizeByObject(({ tools, aliases, edition: { resources = [], prompts = [] } }: AliasMap): PageNames => {
  const servers = new Map<string, { trusted: boolean; uris: string[] }>();
  for (const { kind, server, trusted = false, presentation } of tools) {
    if (kind !== 'mcp') continue;
    const known = servers.get(server) ?? { trusted, uris: [] };
    servers.set(server, known);
    withPages(presentation?.meta ?? {}, (own) => {
      known.uris.push(own);
      return own;
    });
  }
  const others = [...resources, ...prompts].map((entry) => serverOfOffer(toOfferEntry(entry).pattern));
  for (const server of others) if (!servers.has(server)) servers.set(server, { trusted: true, uris: [] });
  return namePages(
    [...servers].map(([server, known]) => ({ server, ...known })),
    aliases ? resources : [],
  );
});
