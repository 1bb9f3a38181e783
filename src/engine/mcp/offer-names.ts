/**
 * Gives names to what the servers of a toolset offer: the own name where it can only mean one server, otherwise one with the server's name.
 * Servers choose their own names, so a name alone never says whose it is (`serve-offers.ts`).
 */
import type { ServerOffer } from '../../core/servers/server-state.ts';
import type { OfferEntry } from '../../core/toolset/offer-entry.ts';
import { literalStart } from './uri-template.ts';

/** `own`: the name or URI at its server. `entry`: the entry of the toolset that selects it; null: selected by default. */
export type OwnOffer = { server: string; trusted: boolean; own: string; offer: ServerOffer; entry: OfferEntry | null };
export type ServedOffer = Pick<OwnOffer, 'server' | 'own' | 'entry'> & { shown: ServerOffer };

export type NamingRules = {
  /** The member that has the name. */
  member: 'name' | 'uri' | 'uriTemplate';
  /** Returns the name of one that is already named elsewhere. */
  given?(one: OwnOffer): string | undefined;
  /** Returns the name with its server. */
  withServer(server: string, own: string): string;
  /** Whether the server may not have this name for itself. */
  isReserved(one: OwnOffer): boolean;
  /** Names that others have already. */
  taken?: ReadonlySet<string>;
};

/**
 * Returns the offers by their names. A name that only one trusted server has stays its own, whatever untrusted servers list; duplicates within
 * a server are one offer.
 */
export function nameAll(listed: readonly OwnOffer[], { member, given, withServer, isReserved, taken = new Set() }: NamingRules) {
  const owners = Map.groupBy(listed, ({ own }) => own);
  const isSole = ({ server, trusted, own }: OwnOffer): boolean =>
    (owners.get(own) ?? []).every((other) => other.server === server || (trusted && !other.trusted));
  const named = new Map<string, ServedOffer>();
  const add = (name: string, { server, own, entry, offer }: OwnOffer): void => {
    named.set(name, { server, own, entry, shown: { ...offer, [member]: name } });
  };
  const seen = new Set<string>();
  const others: OwnOffer[] = [];
  for (const one of listed) {
    const key = JSON.stringify([one.server, one.own]);
    if (seen.has(key)) continue;
    seen.add(key);
    const name = given?.(one);
    if (name !== undefined) add(name, one);
    else if (isSole(one) && !isReserved(one) && !taken.has(one.own)) add(one.own, one);
    else others.push(one);
  }
  for (const one of others) add(freeName(withServer(one.server, one.own), named, taken), one);
  return named;
}

/** Names with a server are only taken by the toolset, or by the same server. */
function freeName(wanted: string, named: ReadonlyMap<string, unknown>, taken: ReadonlySet<string>): string {
  const isFree = (name: string): boolean => !named.has(name) && !taken.has(name);
  if (isFree(wanted)) return wanted;
  for (let number = 2; ; number += 1) if (isFree(`${wanted}_${number}`)) return `${wanted}_${number}`;
}

export function promptName(server: string, own: string): string {
  return `${server}_${own}`.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, 128);
}

/** Server names have no underscore, so a name has the prefix of at most one server. */
export function hasPrefixOfOther(servers: ReadonlyMap<string, unknown>, { server, own }: OwnOffer): boolean {
  const prefix = own.slice(0, Math.max(0, own.indexOf('_')));
  return prefix !== server && servers.has(prefix);
}

/**
 * Returns the URI with its server in the fragment. So the scheme stays, which hosts of MCP apps require (`ui:`), a template can still be
 * expanded, and a client that fetches an `https:` URI itself gets the same page. All characters are unreserved (RFC 3986), so that no client
 * encodes them.
 */
export function uriOfServer(server: string, own: string): string {
  return `${own}${own.includes('#') ? '~' : '#'}moniker.${server}`;
}

/** Returns the URI at the server; null if its fragment does not name this server. */
export function ownUri(server: string, uri: string): string | null {
  const own = uri.slice(0, -uriOfServer(server, '').length);
  return uri === `${own}#moniker.${server}` || uri === `${own}~moniker.${server}` ? own : null;
}

/** The texts before the first expression of templates that begin with a scheme. */
export type TemplateStarts = readonly (Pick<OwnOffer, 'server' | 'trusted'> & { start: string })[];

export function templateStarts(templates: readonly OwnOffer[]): TemplateStarts {
  const starts = templates.map(({ server, trusted, own }) => ({ server, trusted, start: literalStart(own) }));
  return starts.filter(({ start }) => hasScheme(start));
}

/**
 * Returns whether a template could match URIs of another server: it begins with an expression, or with a beginning of another one's template,
 * unless that server is untrusted and this one is not.
 */
export function mayMatchOthers({ server, trusted, own }: OwnOffer, servers: ReadonlyMap<string, unknown>, starts: TemplateStarts): boolean {
  const start = literalStart(own);
  if (!hasScheme(start)) return servers.size > 1;
  return starts.some((other) => {
    if (other.server === server || (trusted && !other.trusted)) return false;
    return start.startsWith(other.start) || other.start.startsWith(start);
  });
}

/** Returns whether an untrusted server lists a URI that a template of a trusted one could match. */
export function shadowsTrusted({ trusted, own }: OwnOffer, starts: TemplateStarts): boolean {
  return !trusted && starts.some((template) => template.trusted && own.startsWith(template.start));
}

function hasScheme(start: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(start);
}
