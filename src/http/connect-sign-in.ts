/**
 * Starts the sign-in of a user at a server with `oauth.per: "user"`. The browser that starts it must finish it: it gets a cookie whose hash is
 * in the signed `state`. Otherwise a user could send the link of a sign-in to another one, and call the server with that account afterwards.
 */
import { isUnbound, requireAllowed } from '../core/authority.ts';
import { sha256Hex } from '../core/hash.ts';
import { nullIfNotFound, Problem, quoted } from '../core/problem.ts';
import type { Principal } from '../core/principal.ts';
import { limits } from '../core/limits.ts';
import { connectPageUrl } from '../core/servers/user-connection.ts';
import { McpServer } from '../core/servers/server.ts';
import { publicBase } from '../core/settings.ts';
import { servedServers } from '../engine/mcp/serve-resources.ts';
import { planNames } from '../engine/plan/plan-names.ts';
import { agentsOfKey, allowOf, findToolset } from '../engine/plan/read-toolset.ts';
import type { Services } from '../wiring.ts';
import type { AppContext } from './middleware/request-context.ts';
import { isOwnOrigin, requirePublicBase } from './own-origin.ts';

export type Started = { authorizationUrl: string; expiresAt: number | null };

/** Returns the names of the servers that users connect to and that this key has tools of, sorted. */
export async function userServers(services: Services, principal: Principal): Promise<string[]> {
  const names = isUnbound(principal) ? await allServers(services, principal) : await ownServers(services, principal);
  return names.toSorted();
}

async function allServers(services: Services, { workspace }: Principal): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<ReturnType<Services['catalog']>['list']>> = await services
      .catalog(workspace)
      .list('server', { limit: limits.maxPageItems, ...(cursor !== null && { cursor }) });
    for (const { name, body } of page.items) if (McpServer.shape.oauth.safeParse(body.oauth).data?.per === 'user') found.push(name);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

async function ownServers({ directory, settings }: Services, principal: Principal): Promise<string[]> {
  const agents = await agentsOfKey(directory, principal);
  const references = new Set([...(principal.toolsets ?? []), ...agents.flatMap(({ toolset }) => (toolset === undefined ? [] : [toolset]))]);
  const found = new Set<string>();
  for (const reference of references) {
    const usable = await findToolset(directory, principal, reference);
    if (usable === null) continue;
    const names = planNames(usable.names, { aliases: settings.aliases, ...allowOf(usable.list) });
    for (const server of servedServers({ names })) found.add(server);
  }
  const servers = await Promise.all([...found].map((name) => nullIfNotFound(directory.server(principal.workspace, name))));
  return servers.flatMap((server) => (server?.mcp?.oauth?.per === 'user' ? [server.name] : []));
}

/** Throws `forbidden` for a server that this key has no tools of, whether or not it exists. */
export async function requireUserServer(services: Services, principal: Principal, server: string): Promise<void> {
  requireAllowed(principal, { act: 'use-scope', scopes: ['chat', 'tools'] });
  if (isUnbound(principal) || (await ownServers(services, principal)).includes(server)) return;
  throw new Problem('forbidden', `This key has no tools of a server ${quoted(server)} that users connect to.`);
}

/** Begins the sign-in for this browser, and sets its cookie on `headers`. */
export async function startInBrowser(c: AppContext, principal: Principal, server: string, headers: Headers): Promise<Started> {
  const services = c.get('services');
  await requireUserServer(services, principal, server);
  const base = requirePublicBase(services.settings.publicUrl, 'Sign-ins');
  const known = readBrowserCookie(c);
  const value = known ?? crypto.randomUUID();
  const browser = await sha256Hex(value);
  const started = await services.signIns.begin(principal.workspace, server, { ...ownAddresses(base), owner: principal.keyId, browser });
  const { name, attributes } = cookieOf(base);
  headers.append('set-cookie', `${name}=${value}; ${attributes}`);
  return started;
}

/** For callers that are no page of ours: the page where the user starts the sign-in. */
export async function startOnPage(services: Services, principal: Principal, server: string): Promise<Started> {
  await requireUserServer(services, principal, server);
  const { mcp } = await services.directory.server(principal.workspace, server);
  if (mcp?.oauth?.per !== 'user') throw new Problem('conflict', `Users do not connect to the server ${quoted(server)}.`);
  const base = requirePublicBase(services.settings.publicUrl, 'Sign-ins');
  return { authorizationUrl: connectPageUrl(base, principal.workspace, server), expiresAt: null };
}

/** Returns the hash of what this browser was given; null: it started no sign-in. */
export async function browserOf(c: AppContext): Promise<string | null> {
  const value = readBrowserCookie(c);
  return value === null ? null : await sha256Hex(value);
}

/**
 * Returns whether a page of this service sent the request: by its origin, or, where the browser withholds it, by `Sec-Fetch-Site`. Programs
 * send neither.
 */
export function isFromOwnPage(c: AppContext): boolean {
  const origin = c.req.header('origin');
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined || origin === 'null') return site === 'same-origin';
  return isOwnOrigin(c.get('services').settings, origin);
}

/** The metadata document exists only over https, where authorization servers can read it. */
export function ownAddresses(base: string): { redirectUri: string; metadataUrl: string | null } {
  return { redirectUri: `${base}/oauth/callback`, metadataUrl: base.startsWith('https:') ? `${base}/oauth/client.json` : null };
}

/** Lasts for one sign-in. Lax: the browser returns from the authorization server by a link. */
function cookieOf(base: string): { name: string; attributes: string } {
  const common = 'Path=/; HttpOnly; SameSite=Lax; Max-Age=600';
  if (base.startsWith('https:')) return { name: '__Host-moniker-connect', attributes: `${common}; Secure` };
  return { name: 'moniker-connect', attributes: common };
}

function readBrowserCookie(c: AppContext): string | null {
  const { name } = cookieOf(publicBase(c.get('services').settings.publicUrl) ?? '');
  const header = c.req.header('cookie') ?? '';
  const pair = header.split(';', maxCookies).find((one) => one.trim().startsWith(`${name}=`));
  const value = pair?.trim().slice(name.length + 1) ?? '';
  return /^[0-9a-f-]{36}$/.test(value) ? value : null;
}

const maxCookies = 100;
