/**
 * Starts the sign-in of a user at a server with `oauth.per: "user"`. The browser that starts it must finish it: it gets a cookie whose hash is
 * in the signed `state`. Otherwise a user could send the link of a sign-in to another one, and call the server with that account afterwards.
 */
import { isUnbound, requireAllowed } from '../../../core/people/authority.ts';
import { sha256Hex } from '../../../core/hash.ts';
import { nullIfNotFound, Problem, quoted } from '../../../core/problem.ts';
import { originOf, type Principal } from '../../../core/people/principal.ts';
import { limits } from '../../../core/limits/limits.ts';
import { connectPageUrl } from '../../../core/servers/user-connection.ts';
import { McpServer } from '../../../core/servers/server.ts';
import { servedServers } from '../../../engine/mcp/read-offers.ts';
import { planNames } from '../../../engine/plan/plan-names.ts';
import { agentsOfKey, allowOf, findToolset } from '../../../engine/plan/read-toolset.ts';
import { signInTtlMs } from '../../../mcp/oauth/sign-in-service.ts';
import type { HttpServices } from '../../services.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { requirePublicBase } from '../../own-origin.ts';
import { cookieHeader, readCookie } from '../../sign-in/browser-session.ts';

export type Started = { authorizationUrl: string; expiresAt: number | null };

/** Returns the names of the servers that users connect to and that this key has tools of, sorted. */
export async function userServers(services: HttpServices, principal: Principal): Promise<string[]> {
  const names = isUnbound(principal) ? await allServers(services, principal) : await ownServers(services, principal);
  return names.toSorted();
}

async function allServers(services: HttpServices, { workspace }: Principal): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<ReturnType<HttpServices['catalog']>['list']>> = await services
      .catalog(workspace)
      .list('server', { limit: limits.maxPageItems, ...(cursor !== null && { cursor }) });
    for (const { name, body } of page.items) if (McpServer.shape.oauth.safeParse(body.oauth).data?.per === 'user') found.push(name);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return found;
}

async function ownServers({ directory, settings }: HttpServices, principal: Principal): Promise<string[]> {
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
export async function requireUserServer(services: HttpServices, principal: Principal, server: string): Promise<void> {
  requireAllowed(principal, { act: 'use-scope', scopes: ['chat', 'tools'] });
  if (isUnbound(principal) || (await ownServers(services, principal)).includes(server)) return;
  throw new Problem('forbidden', `This key has no tools of a server ${quoted(server)} that users connect to.`);
}

/** Begins the sign-in for this browser, and sets its cookie on `headers`. */
export async function startInBrowser(
  { c, services, principal }: { c: AppContext; services: HttpServices; principal: Principal },
  server: string,
  headers: Headers,
): Promise<Started> {
  await requireUserServer(services, principal, server);
  const base = requirePublicBase(services.settings.publicUrl, 'Sign-ins');
  const known = readCookie(c, browserCookie);
  // Sign-ins at several servers, in several tabs, share the cookie.
  const value = known !== null && /^[0-9a-f-]{36}$/.test(known) ? known : crypto.randomUUID();
  const own = {
    ...ownAddresses(base),
    owner: principal.keyId,
    browser: await sha256Hex(value),
    origin: originOf(principal, services.clock.now()),
  };
  const started = await services.signIns.begin(principal.workspace, server, own);
  headers.append('set-cookie', cookieHeader(c, browserCookie, value, signInTtlMs));
  return started;
}

/** For other callers than pages of this service: the page where the user starts the sign-in. */
export async function startOnPage(services: HttpServices, principal: Principal, server: string): Promise<Started> {
  await requireUserServer(services, principal, server);
  const { mcp } = await services.directory.server(principal.workspace, server);
  if (mcp?.oauth?.per !== 'user') throw new Problem('conflict', `Users do not connect to the server ${quoted(server)}.`);
  const base = requirePublicBase(services.settings.publicUrl, 'Sign-ins');
  return { authorizationUrl: connectPageUrl(base, principal.workspace, server), expiresAt: null };
}

/** Returns the hash of what this browser was given; null: it started no sign-in. */
export async function browserOf(c: AppContext): Promise<string | null> {
  const value = readCookie(c, browserCookie);
  return value === null ? null : await sha256Hex(value);
}

/** The metadata document exists only over https, where authorization servers can read it. */
export function ownAddresses(base: string): { redirectUri: string; metadataUrl: string | null } {
  return { redirectUri: `${base}/oauth/callback`, metadataUrl: base.startsWith('https:') ? `${base}/oauth/client.json` : null };
}

const browserCookie = 'moniker-connect';
