/** Groups in the claims of a verified token. */
import type { JWTPayload } from 'jose';
import { recordOf } from '../core/json/wire-value.ts';
import { KB } from '../core/limits/units.ts';
import type { GroupMap } from '../core/people/group-map.ts';
import { Problem } from '../core/problem.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import { exchange, refused } from './exchange.ts';

/**
 * Returns the names in a claim: a list of texts, or one text. A claim that is absent names no group. Cloudflare Access has claims of the identity
 * provider below `custom` ("Application token").
 *
 * Throws `forbidden` if they are not texts: a person must not have fewer or other groups than the provider says. null: they are elsewhere. Entra ID leaves out
 * more than 200 and names another place (`_claim_names`, `hasgroups`: "Groups overage claim"), which is never asked.
 */
function namedGroups(claims: JWTPayload, claim: string): string[] | null {
  const { [claim]: own, custom, _claim_names: elsewhere, hasgroups } = claims;
  const value = own ?? recordOf(custom)[claim];
  if (value === undefined || value === null) {
    return Object.hasOwn(recordOf(elsewhere), claim) || hasgroups !== undefined ? null : [];
  }
  const names = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(names) || !names.every((name): name is string => typeof name === 'string'))
    throw refused(`the claim \`${claim}\` of the identity provider is not a list of names`);
  return names;
}

/** Throws `forbidden` also if the token does not have the groups. */
export function groupsIn(claims: JWTPayload, claim: string): string[] {
  const found = namedGroups(claims, claim);
  if (found !== null) return found;
  throw refused(
    'the identity provider left out your groups, since there are too many. It must send those of this application only, or the setting must say `"overage": "graph"`',
  );
}

/** Microsoft Graph of each cloud, by the host of the issuer ("Microsoft Graph national cloud deployments"). No token says where to ask. */
const graphs: ReadonlyMap<string, string> = new Map([
  ['login.microsoftonline.com', 'https://graph.microsoft.com'],
  ['login.microsoftonline.us', 'https://graph.microsoft.us'],
  ['login.partner.microsoftonline.cn', 'https://microsoftgraph.chinacloudapi.cn'],
]);
/** 11,000 ids, the most that Graph returns. */
const maxGroupsBytes = 600 * KB;

/** Returns Graph's URL for a map that reads groups from it; null: it does not. Throws `not_configured` for another issuer than Entra ID. */
export function graphOf(issuer: string, map: GroupMap | null): string | null {
  if (map?.overage === undefined) return null;
  const graph = graphs.get(URL.parse(issuer)?.host ?? '');
  if (graph !== undefined) return graph;
  throw new Problem('not_configured', `"overage": "graph" is for groups of Entra ID, and not of ${issuer}. Remove it from the setting.`);
}

/** The permission to read one's own groups, in the scope of the authorization request. */
export function graphScope(graph: string): string {
  return `${graph}/User.Read`;
}

/**
 * Returns the groups in an ID token, or those of the person who signs in from Graph (`POST /me/getMemberObjects`, v1.0), with the access token that came with it. Throws
 * `forbidden` if Graph does not list them all.
 */
export async function groupsOfEntra(
  outbound: OutboundHttp,
  graph: string,
  { claims, claim, accessToken }: { claims: JWTPayload; claim: string; accessToken: string | undefined },
): Promise<string[]> {
  const found = namedGroups(claims, claim);
  if (found !== null) return found;
  const why = 'the identity provider left out your groups, since there are too many, and Microsoft Graph did not list them';
  if (accessToken === undefined) throw refused(`${why}: the sign-in gave no access token`);
  const request = new Request(`${graph}/v1.0/me/getMemberObjects`, {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ securityEnabledOnly: false }),
  });
  const response = await exchange(outbound, request, maxGroupsBytes);
  if (!response.ok) throw refused(`${why}: it responded with ${response.status}. The application needs the delegated permission User.Read`);
  const { value, '@odata.nextLink': next } = recordOf(await response.json().catch(() => null));
  if (next !== undefined || !Array.isArray(value) || !value.every((id): id is string => typeof id === 'string'))
    throw refused(`${why} all`);
  return value.map((id) => id.toLowerCase());
}
