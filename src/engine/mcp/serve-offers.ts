/**
 * Prompts, resources and templates that a toolset offers, under unambiguous names. A pure function of the edition and of what is stored about
 * the servers, so that a name means the same everywhere. Requests to the servers are in `serve-resources.ts`.
 *
 * | offered | by one | by several |
 * |---|---|---|
 * | prompt `review` | `review` | `github_review` |
 * | resource `file:///a` | `file:///a` | `file:///a#moniker.github` |
 * | template `db://{table}` | `db://{table}` | `db://{table}#moniker.github` |
 *
 * A server is also named for a name that another one could be meant by: a prompt that begins like one with a server's name, a template that
 * could match URIs of another server, the page of another server's tool, and, if it is not trusted, a URI that a template of a trusted server
 * matches. `ui-pages.ts` names the pages of tools.
 */
import { recordOf } from '../../core/json/wire-value.ts';
import { isOurUri } from '../../core/names/offer-pattern.ts';
import type { ServerOffer, ServerOffers } from '../../core/servers/server-state.ts';
import { withOwnMeta } from '../../core/tools/mcp-input.ts';
import {
  createOfferIndex,
  type OfferEntry,
  type OfferSelection,
  type PromptEntry,
  type ResourceEntry,
} from '../../core/toolset/offer-entry.ts';
import {
  hasPrefixOfOther,
  mayMatchOthers,
  nameAll,
  type OwnOffer,
  ownUri,
  promptName,
  type ServedOffer,
  shadowsTrusted,
  templateStarts,
  uriOfServer,
} from './offer-names.ts';
import { namePages, type PageNames } from './ui-pages.ts';
import { matchesTemplate } from './uri-template.ts';

export type OffersOfServer = { server: string; trusted: boolean; offers: ServerOffers };

/** By shown name or URI. */
export type ServedOffers = {
  prompts: ReadonlyMap<string, ServedOffer>;
  promptAliases: ReadonlyMap<string, ServedOffer>;
  resources: ReadonlyMap<string, ServedOffer>;
  resourceAliases: ReadonlyMap<string, ServedOffer>;
  /** Those that the toolset lists. */
  templates: ReadonlyMap<string, ServedOffer>;
  /** Also those that only show which URIs of an entry exist. */
  allTemplates: ReadonlyMap<string, ServedOffer>;
  /** Pages of tools, which servers need not list. */
  pages: ReadonlyMap<string, FoundOffer>;
  /** The URIs that clients get of listed resources and of pages, by server and the URI there. */
  shown: ReadonlyMap<string, ReadonlyMap<string, string>>;
  servers: ReadonlyMap<string, { trusted: boolean }>;
  /** Returns the entry that selects a URI of a server, whether or not it exists: null: none is needed; undefined: the toolset does not offer it. */
  select: Select;
};

type Select = (server: string, own: string) => OfferEntry | null | undefined;

export type NamingOptions = {
  /** Whether the names that the toolset gives are used (`MONIKER_ALIASES`). */
  aliases?: boolean;
  pages?: PageNames;
  /** URIs of the toolset's own. */
  taken?: Iterable<string>;
};

export function nameOffers(
  all: readonly OffersOfServer[],
  selection: OfferSelection = {},
  { aliases = true, pages: pageNames = namePages([]), taken = [] }: NamingOptions = {},
): ServedOffers {
  const sorted = [...all].sort((a, b) => (a.server < b.server ? -1 : 1));
  const servers = new Map(sorted.map(({ server, trusted }) => [server, { trusted }]));
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
  const named = (key: 'name' | 'uri', all: readonly OwnOffer[]) => (aliases ? givenNames(key, all) : { ...noNames, unnamed: all });
  const prompt = named('name', listed('prompts', 'name', prompts.select));
  const resource = named('uri', listed('resources', 'uri', resources.select));
  const templates = listed('resourceTemplates', 'uriTemplate', (server) => (resources.hasSome(server) ? null : undefined));
  const starts = templateStarts(templates);
  const pages = pagesOf(pageNames, selection.resources === undefined ? () => null : resources.select);
  const allTemplates = nameAll(templates, {
    ...{ member: 'uriTemplate', withServer: uriOfServer },
    isReserved: (one) => isOurUri(one.own) || mayMatchOthers(one, servers, starts),
  });
  const allPrompts = new Map([
    ...prompt.named,
    ...nameAll(prompt.unnamed, {
      ...{ member: 'name', withServer: promptName, taken: prompt.taken },
      isReserved: (one) => hasPrefixOfOther(servers, one),
    }),
  ]);
  const allResources = new Map([
    ...resource.named,
    ...nameAll(resource.unnamed, {
      ...{ member: 'uri', withServer: uriOfServer, taken: new Set([...resource.taken, ...pageNames.pages.keys(), ...taken]) },
      given: ({ server, own }) => pageNames.nameOf(server, own),
      isReserved: (one) => isOurUri(one.own) || shadowsTrusted(one, starts),
    }),
  ]);
  return {
    ...{ prompts: allPrompts, promptAliases: prompt.aliases, resources: allResources, resourceAliases: resource.aliases },
    allTemplates,
    templates: new Map(
      [...allTemplates].flatMap(([shown, one]) => {
        const entry = resources.select(one.server, one.own);
        return entry === undefined ? [] : [[shown, { ...one, shown: aliases ? describe(one.shown, entry, 'uri') : one.shown }]];
      }),
    ),
    pages,
    shown: shownByServer([...pages, ...allResources]),
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

/** Names of the toolset take precedence over those that servers choose. `unnamed`: the offers without one. */
function givenNames(key: 'name' | 'uri', listed: readonly OwnOffer[]): GivenNames {
  const [named, aliases] = [new Map<string, ServedOffer>(), new Map<string, ServedOffer>()];
  const taken = new Set<string>();
  const unnamed: OwnOffer[] = [];
  for (const one of listed) {
    const { server, own, entry } = one;
    const given = entry?.[key];
    const further = entry?.aliases ?? [];
    const offer = describe(one.offer, entry, key);
    const shown = { server, own, entry, shown: { ...offer, ...(given !== undefined && { [key]: given }) } };
    for (const name of [...further, ...(given === undefined ? [] : [given])]) taken.add(name);
    for (const alias of further) aliases.set(alias, shown);
    if (given === undefined) unnamed.push({ ...one, offer });
    else named.set(given, shown);
  }
  return { named, aliases, taken, unnamed };
}

type GivenNames = {
  named: Map<string, ServedOffer>;
  aliases: Map<string, ServedOffer>;
  taken: ReadonlySet<string>;
  unnamed: readonly OwnOffer[];
};

const noNames = { named: new Map<never, never>(), aliases: new Map<never, never>(), taken: new Set<never>() };

/** Returns the offer with the texts of its entry. Clients show the title rather than the name, so a name for people replaces it. */
function describe(offer: ServerOffer, entry: OfferEntry | null, key: 'name' | 'uri'): ServerOffer {
  const { name, aliases = [], description } = entry ?? {};
  const { title: _title, ...untitled } = offer;
  return {
    ...(key === 'uri' && name !== undefined ? { ...untitled, name } : offer),
    ...(description !== undefined && { description }),
    ...(aliases.length > 0 && { _meta: withOwnMeta(recordOf(offer._meta), { aliases }) }),
  };
}

function pagesOf({ pages }: PageNames, select: Select): Map<string, FoundOffer> {
  const found = new Map<string, FoundOffer>();
  for (const [shown, page] of pages) {
    const entry = select(page.server, page.own);
    if (entry !== undefined) found.set(shown, { ...page, entry });
  }
  return found;
}

function shownByServer(named: readonly (readonly [shown: string, FoundOffer])[]): Map<string, Map<string, string>> {
  const byServer = Map.groupBy(named, ([, { server }]) => server);
  return new Map([...byServer].map(([server, all]) => [server, new Map(all.map(([shown, { own }]) => [own, shown]))]));
}

export type FoundOffer = Pick<ServedOffer, 'server' | 'own' | 'entry'>;

export function findPrompt({ prompts, promptAliases }: Pick<ServedOffers, 'prompts' | 'promptAliases'>, name: string): ServedOffer | null {
  return prompts.get(name) ?? promptAliases.get(name) ?? null;
}

/**
 * Returns whose a URI is: the server under whose name it was published, else the one whose tools name it as a page, whose result in this
 * session linked to it, or whose template matches it. `links`: the stored ones of `linkedAs`. null: the toolset does not offer it.
 * `ambiguous`: it could be of several servers.
 */
export function findResource(offers: ServedOffers, uri: string, links: readonly ShownLink[]): FoundOffer | 'ambiguous' | null {
  const known = offers.resources.get(uri) ?? offers.resourceAliases.get(uri) ?? offers.pages.get(uri);
  if (known !== undefined) return known;
  for (const found of [linked(offers, uri, links), ofTemplates(offers, uri)]) {
    const [first, ...others] = found;
    if (first !== undefined) return others.every(({ server }) => server === first.server) ? first : 'ambiguous';
  }
  return null;
}

/** The URI of a link as the client got it, and the server whose result linked to it. */
export type ShownLink = { server: string; uri: string };

/** Returns the links that a client may mean by a URI: it, or the one without the server's name. */
export function linkedAs({ servers }: ServedOffers, uri: string): string[] {
  return [uri, ...[...servers.keys()].flatMap((server) => ownUri(server, uri) ?? [])];
}

function linked({ select }: ServedOffers, uri: string, links: readonly ShownLink[]): FoundOffer[] {
  return links.flatMap(({ server, uri: shown }) => {
    const own = ownUri(server, uri) ?? uri;
    const entry = shown === uri || shown === own ? select(server, own) : undefined;
    return entry === undefined ? [] : [{ server, own, entry }];
  });
}

/** A template without a server's name matches no URI with one. */
function ofTemplates({ allTemplates, select }: ServedOffers, uri: string): FoundOffer[] {
  return [...allTemplates].flatMap(([shown, { server, own: template }]) => {
    if (isOurUri(uri) !== isOurUri(shown) || !matchesTemplate(shown, uri)) return [];
    const own = shown === template ? uri : ownUri(server, uri);
    const entry = own === null ? undefined : select(server, own);
    return own === null || entry === undefined ? [] : [{ server, own, entry }];
  });
}

/**
 * Returns the URI by which a client can read a server's URI. One that no list has is shown unchanged while it leads to this server; if the
 * server is not trusted, only beside no other one, since a later link of another server could be the same.
 */
export function shownUri(offers: ServedOffers, server: string, own: string, links: readonly ShownLink[] = []): string {
  const { allTemplates, servers } = offers;
  const listed = offers.shown.get(server)?.get(own);
  if (listed !== undefined) return listed;
  const withServer = uriOfServer(server, own);
  const template = [...allTemplates].find(([, one]) => one.server === server && matchesTemplate(one.own, own));
  if (template !== undefined && template[0] !== template[1].own) return withServer;
  const holder = findResource(offers, own, links);
  const isOther = holder === 'ambiguous' || (holder !== null && holder.server !== server);
  if (isOther || isOurUri(own)) return withServer;
  const mayBeTaken = template === undefined && servers.size > 1 && servers.get(server)?.trusted !== true;
  return mayBeTaken && offers.select(server, own) !== undefined ? withServer : own;
}

/** Returns the URIs that clients get instead of a URI as servers have it. */
export function otherNames({ shown }: ServedOffers, own: string): string[] {
  return [...shown.values()].flatMap((names) => names.get(own) ?? []);
}
