/**
 * Prompts, resources and templates of the MCP servers that have tools in a toolset, under names that are safe together: as they are
 * while only one server offers them; where several do, each with its server in the name. A pure function of what is stored of the servers,
 * so that a name means the same wherever it is asked. Asking the servers is `serve-resources.ts`.
 *
 * | offered | by one | by several |
 * |---|---|---|
 * | prompt `review` | `review` | `github_review` |
 * | resource `file:///a` | `file:///a` | `moniker://github/file:///a` |
 * | template `db://{table}` | `db://{table}` | `moniker://github/db://{table}` |
 *
 * The server's URI stands unencoded behind the prefix: encoded, what a client puts into a template could not be told from the rest.
 */
import type { Offer, ServerOffers } from '../../core/servers/server-state.ts';
import { matchesTemplate } from './uri-template.ts';

export type OffersOfServer = { server: string; offers: ServerOffers };

/** `own`: the name or URI at its server. */
export type ServedOffer = { server: string; own: string; shown: Offer };

export type ServedOffers = {
  servers: readonly string[];
  /** By shown name, or URI. */
  prompts: ReadonlyMap<string, ServedOffer>;
  resources: ReadonlyMap<string, ServedOffer>;
  templates: ReadonlyMap<string, ServedOffer>;
};

export function nameOffers(all: readonly OffersOfServer[]): ServedOffers {
  const servers = [...all].sort((a, b) => (a.server < b.server ? -1 : 1));
  const listed = (member: keyof ServerOffers, key: string): Listed[] =>
    servers.flatMap(({ server, offers }) => offers[member].map((offer: Offer) => ({ server, own: String(offer[key]), offer })));
  return {
    servers: servers.map(({ server }) => server),
    prompts: nameAll(listed('prompts', 'name'), 'name', promptName),
    resources: nameAll(listed('resources', 'uri'), 'uri', serverUri),
    templates: nameAll(listed('resourceTemplates', 'uriTemplate'), 'uriTemplate', serverUri),
  };
}

type Listed = { server: string; own: string; offer: Offer };

/** Every one of those that clash is renamed, so that none changes its name when another one comes or goes but between one and two. */
function nameAll(listed: readonly Listed[], member: string, apart: (server: string, own: string) => string): Map<string, ServedOffer> {
  const owners = new Map<string, Set<string>>();
  for (const { server, own } of listed) owners.set(own, (owners.get(own) ?? new Set()).add(server));
  const named = new Map<string, ServedOffer>();
  const add = (name: string, { server, own, offer }: Listed): void => {
    named.set(name, { server, own, shown: { ...offer, [member]: name } });
  };
  const isAlone = ({ own }: Listed): boolean => owners.get(own)?.size === 1;
  // The same name twice from one server is one.
  for (const one of listed) if (isAlone(one) && !named.has(one.own)) add(one.own, one);
  const seen = new Set<string>();
  for (const one of listed) {
    const key = JSON.stringify([one.server, one.own]);
    if (isAlone(one) || seen.has(key)) continue;
    seen.add(key);
    add(freeName(apart(one.server, one.own), named), one);
  }
  return named;
}

/** A server may offer what looks like another one's name made safe. */
function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (!taken.has(`${wanted}_${number}`)) return `${wanted}_${number}`;
}

function promptName(server: string, own: string): string {
  return `${server}_${own}`.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128);
}

function serverUri(server: string, own: string): string {
  return `${serverPrefix(server)}${own}`;
}

function serverPrefix(server: string): string {
  return `moniker://${server}/`;
}

/**
 * Whose a URI is: one that is listed, one behind a server's prefix, one that fits a template, or else the only server's. null: nobody's
 * here, or it could be of several.
 */
export function ownerOf({ servers, resources, templates }: ServedOffers, uri: string): { server: string; own: string } | null {
  const known = resources.get(uri) ?? templates.get(uri);
  if (known !== undefined) return known;
  for (const server of servers) {
    const prefix = serverPrefix(server);
    if (uri.startsWith(prefix)) return { server, own: uri.slice(prefix.length) };
  }
  const fitting = new Set<string>();
  for (const [template, { server }] of templates) if (matchesTemplate(template, uri)) fitting.add(server);
  const [only, ...others] = fitting.size > 0 ? fitting : servers;
  return only === undefined || others.length > 0 ? null : { server: only, own: uri };
}

/** How a URI of a server is told to a client of ours: what several servers have is told apart. */
export function shownUri({ resources, servers }: ServedOffers, server: string, own: string): string {
  const listed = resources.get(own);
  if (listed?.server === server || (listed === undefined && servers.length === 1)) return own;
  const apart = serverUri(server, own);
  return resources.has(apart) || listed !== undefined ? apart : own;
}
