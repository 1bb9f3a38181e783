/**
 * Prompts, resources and templates that a toolset offers, under unambiguous names. A pure function of the edition and of what is stored about
 * the servers, so that a name means the same everywhere. Requests to the servers are in `serve-resources.ts`.
 *
 * | offered | by one | by several |
 * |---|---|---|
 * | prompt `review` | `review` | `github_review` |
 * | resource `file:///a` | `file:///a` | `moniker://github/file:///a` |
 * | template `db://{table}` | `db://{table}` | `moniker://github/db://{table}` |
 *
 * The server's URI is not encoded after the prefix, since an encoded template could not be expanded by a client. A server also gets its prefix
 * for a name that another one could be meant by: one that begins like a name with a prefix, a template that could match URIs of another
 * server, the page of another server's tool, and, if it is not trusted, a URI that a template of a trusted server matches.
 */
import type { ServerOffer, ServerOffers } from '../../core/servers/server-state.ts';
import {
  createOfferIndex,
  type OfferEntry,
  type OfferSelection,
  type PromptEntry,
  type ResourceEntry,
} from '../../core/toolset/offer-entry.ts';
import {
  hasPrefixOfOther,
  isOurUri,
  mayMatchOthers,
  nameAll,
  type OwnOffer,
  promptName,
  type ServedOffer,
  shadowsTrusted,
  templateStarts,
  uriOfServer,
} from './offer-names.ts';
import { matchesTemplate } from './uri-template.ts';

/** `pages`: URIs that definitions of the server's tools name (MCP Apps). A server need not list them. */
export type OffersOfServer = { server: string; trusted: boolean; offers: ServerOffers; pages?: readonly string[] };

/** By shown name or URI. */
export type ServedOffers = {
  prompts: ReadonlyMap<string, ServedOffer>;
  promptAliases: ReadonlyMap<string, ServedOffer>;
  resources: ReadonlyMap<string, ServedOffer>;
  /** Those that the toolset lists. */
  templates: ReadonlyMap<string, ServedOffer>;
  /** Also those that only show which URIs of an entry exist. */
  allTemplates: ReadonlyMap<string, ServedOffer>;
  /** The servers with tools that name a page, by its URI. */
  pages: ReadonlyMap<string, readonly FoundOffer[]>;
  servers: ReadonlySet<string>;
  /** Returns the entry that selects a URI of a server, whether or not it exists: null: none is needed; undefined: the toolset does not offer it. */
  select: Select;
};

type Select = (server: string, own: string) => OfferEntry | null | undefined;

/** `aliases`: whether the names that the toolset gives are used (`MONIKER_ALIASES`). */
export function nameOffers(all: readonly OffersOfServer[], selection: OfferSelection = {}, aliases = true): ServedOffers {
  const sorted = [...all].sort((a, b) => (a.server < b.server ? -1 : 1));
  const servers = new Set(sorted.map(({ server }) => server));
  const trusted = new Set(sorted.flatMap((one) => (one.trusted ? [one.server] : [])));
  const [prompts, resources] = [selector(selection.prompts, trusted), selector(selection.resources, trusted)];
  const listed = (member: keyof ServerOffers, key: string, select: Select): OwnOffer[] =>
    sorted.flatMap(({ server, trusted, offers }) =>
      offers[member].flatMap((offer: ServerOffer) => {
        const own = String(offer[key]);
        const entry = select(server, own);
        return entry === undefined ? [] : [{ server, trusted, own, offer, entry }];
      }),
    );
  const given = aliases ? givenNames(listed('prompts', 'name', prompts.select)) : null;
  const unnamed = given?.unnamed ?? listed('prompts', 'name', prompts.select);
  const templates = listed('resourceTemplates', 'uriTemplate', (server) => (resources.hasSome(server) ? null : undefined));
  const starts = templateStarts(templates);
  const pages = pagesOf(sorted, selection.resources === undefined ? () => null : resources.select);
  const isPageOfOther = ({ server, own }: OwnOffer): boolean => pages.get(own)?.every((page) => page.server !== server) === true;
  const allTemplates = nameAll(templates, {
    ...{ member: 'uriTemplate', withServer: uriOfServer },
    isReserved: (one) => isOurUri(one.own) || mayMatchOthers(one, servers, starts),
  });
  return {
    prompts: new Map([
      ...(given?.prompts ?? []),
      ...nameAll(unnamed, {
        ...{ member: 'name', withServer: promptName, taken: given?.taken ?? new Set() },
        isReserved: (one) => hasPrefixOfOther(servers, one),
      }),
    ]),
    promptAliases: given?.aliases ?? new Map(),
    resources: nameAll(listed('resources', 'uri', resources.select), {
      ...{ member: 'uri', withServer: uriOfServer },
      isReserved: (one) => isOurUri(one.own) || isPageOfOther(one) || shadowsTrusted(one, starts),
    }),
    allTemplates,
    templates: new Map([...allTemplates].filter(([, { server, own }]) => resources.select(server, own) !== undefined)),
    pages,
    servers,
    select: (server, own) => (servers.has(server) ? resources.select(server, own) : undefined),
  };
}

/** Without entries, everything of trusted servers is offered, and nothing of others. */
function selector(entries: readonly (ResourceEntry | PromptEntry)[] | undefined, trusted: ReadonlySet<string>) {
  if (entries === undefined) {
    const hasSome = (server: string): boolean => trusted.has(server);
    const select: Select = (server) => (trusted.has(server) ? null : undefined);
    return { select, hasSome };
  }
  const index = createOfferIndex(entries);
  const select: Select = (server, own) => index.find(`${server}.${own}`) ?? undefined;
  return { select, hasSome: (server: string): boolean => index.servers.has(server) };
}

/** Names of the toolset take precedence over those that servers choose. `unnamed`: the prompts without one. */
function givenNames(listed: readonly OwnOffer[]) {
  const prompts = new Map<string, ServedOffer>();
  const aliases = new Map<string, ServedOffer>();
  const taken = new Set<string>();
  const unnamed: OwnOffer[] = [];
  for (const one of listed) {
    const { server, own, entry } = one;
    const { name, aliases: further = [], description } = entry ?? {};
    const offer = {
      ...one.offer,
      ...(description !== undefined && { description }),
      ...(further.length > 0 && { _meta: { ...metaOf(one.offer), aliases: further } }),
    };
    const shown = { server, own, entry, shown: { ...offer, ...(name !== undefined && { name }) } };
    for (const taking of [...further, ...(name === undefined ? [] : [name])]) taken.add(taking);
    for (const alias of further) aliases.set(alias, shown);
    if (name === undefined) unnamed.push({ ...one, offer });
    else prompts.set(name, shown);
  }
  return { prompts, aliases, taken, unnamed };
}

function metaOf({ _meta: meta }: ServerOffer): object {
  return typeof meta === 'object' && meta !== null ? meta : {};
}

function pagesOf(servers: readonly OffersOfServer[], select: Select): Map<string, FoundOffer[]> {
  const pages = new Map<string, FoundOffer[]>();
  for (const { server, pages: uris = [] } of servers) {
    for (const own of new Set(uris)) {
      const entry = select(server, own);
      if (entry !== undefined) pages.set(own, [...(pages.get(own) ?? []), { server, own, entry }]);
    }
  }
  return pages;
}

export type FoundOffer = Pick<ServedOffer, 'server' | 'own' | 'entry'>;

export function findPrompt({ prompts, promptAliases }: ServedOffers, name: string): ServedOffer | null {
  return prompts.get(name) ?? promptAliases.get(name) ?? null;
}

/**
 * Returns whose a URI is: the server under whose name it was published, else the one whose tools name it as a page, whose result in this
 * session linked to it, or whose template matches it. `links`: URIs, as servers have them, with the servers that linked to them. null: the
 * toolset does not offer it. `ambiguous`: it could be of several servers.
 */
export function findResource(offers: ServedOffers, uri: string, links: readonly ServerUri[]): FoundOffer | 'ambiguous' | null {
  const known = offers.resources.get(uri);
  if (known !== undefined) return known;
  for (const found of [offers.pages.get(uri) ?? [], linked(offers, uri, links), ofTemplates(offers, uri)]) {
    const [first, ...others] = found;
    if (first !== undefined) return others.every(({ server }) => server === first.server) ? first : 'ambiguous';
  }
  return null;
}

/** A URI at a server. */
export type ServerUri = { server: string; uri: string };

/** Returns the URIs of servers that a client may mean by this one: the same, or the one behind a server's prefix. */
export function linkedAs({ servers }: ServedOffers, uri: string): string[] {
  const behind = [...servers].flatMap((server) => {
    const prefix = uriOfServer(server, '');
    return uri.startsWith(prefix) ? [uri.slice(prefix.length)] : [];
  });
  return [uri, ...behind];
}

function linked({ select }: ServedOffers, uri: string, links: readonly ServerUri[]): FoundOffer[] {
  return links.flatMap(({ server, uri: own }) => {
    const entry = own === uri || uriOfServer(server, own) === uri ? select(server, own) : undefined;
    return entry === undefined ? [] : [{ server, own, entry }];
  });
}

function ofTemplates({ allTemplates, select }: ServedOffers, uri: string): FoundOffer[] {
  return [...allTemplates].flatMap(([shown, { server, own: template }]) => {
    if (!matchesTemplate(shown, uri)) return [];
    const own = shown === template ? uri : uri.slice(uriOfServer(server, '').length);
    const entry = select(server, own);
    return entry === undefined ? [] : [{ server, own, entry }];
  });
}

/** Returns the URI by which a client can read a server's URI. */
export function shownUri({ resources, allTemplates }: ServedOffers, server: string, own: string): string {
  const withServer = uriOfServer(server, own);
  if (resources.get(own)?.server === server) return own;
  if (resources.has(withServer)) return withServer;
  const template = [...allTemplates].find(([, one]) => one.server === server && matchesTemplate(one.own, own));
  if (template !== undefined) return template[0] === template[1].own ? own : withServer;
  // A link of this server, which another server could have published.
  return resources.has(own) ? withServer : own;
}
