/**
 * Prompts, resources and templates of the MCP servers that have tools in a toolset, under unambiguous names: unchanged while only one server
 * offers them, otherwise with the server's name. A pure function of what is stored about the servers, so that a name means the same
 * everywhere. Requests to the servers are in `serve-resources.ts`.
 *
 * | offered | by one | by several |
 * |---|---|---|
 * | prompt `review` | `review` | `github_review` |
 * | resource `file:///a` | `file:///a` | `moniker://github/file:///a` |
 * | template `db://{table}` | `db://{table}` | `moniker://github/db://{table}` |
 *
 * The server's URI is not encoded after the prefix, since an encoded template could not be expanded by a client.
 */
import type { ServerOffer, ServerOffers } from '../../core/servers/server-state.ts';
import { matchesTemplate } from './uri-template.ts';

export type OffersOfServer = { server: string; offers: ServerOffers };

/** `own`: the name or URI at its server. */
export type ServedOffer = { server: string; own: string; shown: ServerOffer };

export type ServedOffers = {
  servers: readonly string[];
  /** By shown name or URI. */
  prompts: ReadonlyMap<string, ServedOffer>;
  resources: ReadonlyMap<string, ServedOffer>;
  templates: ReadonlyMap<string, ServedOffer>;
};

export function nameOffers(all: readonly OffersOfServer[]): ServedOffers {
  const servers = [...all].sort((a, b) => (a.server < b.server ? -1 : 1));
  const listed = (member: keyof ServerOffers, key: string): Listed[] =>
    servers.flatMap(({ server, offers }) => offers[member].map((offer: ServerOffer) => ({ server, own: String(offer[key]), offer })));
  return {
    servers: servers.map(({ server }) => server),
    prompts: nameAll(listed('prompts', 'name'), 'name', promptName),
    resources: nameAll(listed('resources', 'uri'), 'uri', serverUri),
    templates: nameAll(listed('resourceTemplates', 'uriTemplate'), 'uriTemplate', serverUri),
  };
}

type Listed = { server: string; own: string; offer: ServerOffer };

/** Renames all offers that clash, so that a name only changes when the number of servers offering it changes between one and two. */
function nameAll(listed: readonly Listed[], member: string, apart: (server: string, own: string) => string): Map<string, ServedOffer> {
  const owners = new Map<string, Set<string>>();
  for (const { server, own } of listed) owners.set(own, (owners.get(own) ?? new Set()).add(server));
  const named = new Map<string, ServedOffer>();
  const add = (name: string, { server, own, offer }: Listed): void => {
    named.set(name, { server, own, shown: { ...offer, [member]: name } });
  };
  const isAlone = ({ own }: Listed): boolean => owners.get(own)?.size === 1;
  // Duplicates within one server are one offer.
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

/** Avoids names that a server offers itself and that look like a prefixed name. */
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
 * Returns the server of a URI: by the list, by a server's prefix, by a matching template, or else the only server. null: unknown, or it could
 * be of several servers.
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

/** Returns the URI under which a client knows a server's URI: prefixed if several servers have it. */
export function shownUri({ resources, servers }: ServedOffers, server: string, own: string): string {
  const listed = resources.get(own);
  if (listed?.server === server || (listed === undefined && servers.length === 1)) return own;
  const apart = serverUri(server, own);
  return resources.has(apart) || listed !== undefined ? apart : own;
}
