/**
 * Derives the `Principal` from the `Authorization` header, or from the cookie of a signed-in browser, and checks the scope that a route requires. `x-api-key` and `x-goog-api-key` are
 * accepted only on the paths that stock clients of Anthropic and Google call. Keys in URLs are not accepted, since they end up in logs.
 */
import { limits } from '../../core/limits/limits.ts';
import { requireAllowed } from '../../core/people/authority.ts';
import { missingRootKey } from '../../core/people/missing-keys.ts';
import type { Principal, Scope } from '../../core/people/principal.ts';
import { unknownWorkspace } from '../../core/people/workspace.ts';
import { Problem } from '../../core/problem.ts';
import type { Directory } from '../../ports/directory.ts';
import { oauthIssuer } from '../oauth-metadata.ts';
import { signedOut } from '../../storage/published/people.ts';
import { requireAddress } from '../client-address.ts';
import { isMcpPath } from '../problems.ts';
import { personOfCookie, readCookie, refuseOtherSites, sessionCookie } from '../sign-in/browser-session.ts';
import type { AppContext } from './request-context.ts';

/**
 * Returns the principal of the request if its key is valid and has one of `scopes`. Throws `not_configured`, `unauthenticated`,
 * `forbidden`. `maxAgeMs`: as in `Directory`.
 */
export async function authenticate(c: AppContext, scopes: readonly Scope[], maxAgeMs?: number): Promise<Principal> {
  const { settings, directory } = c.get('services');
  if (settings.rootKey === null) throw missingRootKey();
  const known = await principalOf(c, maxAgeMs);
  const principal = await inWorkspace(known, c.req.header(workspaceHeader), directory);
  requireAllowed(principal, { act: 'use-scope', scopes });
  return principal;
}

const workspaceHeader = 'x-moniker-workspace';

/**
 * Returns the principal in the workspace that the request names (`undefined`: its own). Throws `forbidden` for keys that belong to another
 * one, before it is looked up, and `not_found` if there is no such workspace.
 */
export async function inWorkspace(
  principal: Principal,
  workspace: string | undefined,
  directory: Pick<Directory, 'workspaceStatus'>,
): Promise<Principal> {
  if (workspace === undefined || workspace === principal.workspace) return principal;
  requireAllowed(principal, { act: 'enter-workspace', keyId: principal.keyId });
  if ((await directory.workspaceStatus(workspace)) !== 'active') throw unknownWorkspace(workspace);
  return { ...principal, workspace };
}

/** A key takes precedence over the cookie of a browser. */
async function principalOf(c: AppContext, maxAgeMs?: number): Promise<Principal> {
  const key = keyOf(c);
  if (key !== null) return await principalOfKey(c, key, maxAgeMs);
  const also = apiKeyHeaders(c.req.path).map((name) => ` or \`${name}: <key>\``);
  // Clients of Google's API may have put it there.
  const inUrl = also.length > 0 && c.req.query('key') !== undefined ? ' A key in the URL is not read, since URLs end up in logs.' : '';
  const text = `Send the key as \`Authorization: Bearer <key>\`${also.join('')}.${inUrl}`;
  const missing = new Problem('unauthenticated', text, { reason: 'missing' });
  // Only browsers sign in, and they do not call MCP.
  if (isMcpPath(c.req.path) || readCookie(c, sessionCookie) === null) throw missing;
  const person = await personOfCookie(c);
  if (person === null) throw signedOut();
  refuseOtherSites(c);
  return await c.get('services').people.principal(person, c.req.header(workspaceHeader) ?? null, maxAgeMs);
}

/** Returns the principal of a key or access token that may be used at this path and from the address of the request. */
export async function principalOfKey(c: AppContext, key: string, maxAgeMs?: number): Promise<Principal> {
  const principal = requireAudience(c, await c.get('services').directory.principal(key, maxAgeMs));
  requireAddress(c, principal);
  return principal;
}

/** An access token is valid at the MCP endpoint it was issued for, and nowhere else. */
function requireAudience(c: AppContext, principal: Principal): Principal {
  const { audience } = principal;
  if (audience === undefined || audience === `${oauthIssuer(c.get('services').settings, c.req.url)}${c.req.path}`) return principal;
  throw new Problem('unauthenticated', `This access token is valid at ${audience} only. Use an API key here.`, {
    reason: 'other_resource',
  });
}

/**
 * Authorization takes precedence over the other headers: a client that sends both has configured the first one for this service. null: the
 * request has no key.
 */
function keyOf(c: AppContext): string | null {
  const bearer = c.req.header('authorization');
  if (!isBlank(bearer)) return bearerKey(bearer);
  for (const name of apiKeyHeaders(c.req.path)) {
    const key = c.req.header(name);
    if (!isBlank(key)) return plainKey(name, key);
  }
  return null;
}

/** Returns the headers that may have the key alone. `path`: of a request or of a route. */
export function apiKeyHeaders(path: string): readonly ApiKeyHeader[] {
  const [, root] = /^\/(v1\/messages|v1\/models|v1beta)(?:\/|$)/.exec(path) ?? [];
  if (root === undefined) return [];
  return root === 'v1beta' ? ['x-goog-api-key'] : root === 'v1/models' ? ['x-api-key', 'x-goog-api-key'] : ['x-api-key'];
}

type ApiKeyHeader = 'x-api-key' | 'x-goog-api-key';

function isBlank(header: string | undefined): header is undefined {
  return header === undefined || header.trim() === '';
}

/** RFC 6750 §2.1; the scheme is case-insensitive, followed by one or more spaces, and nothing follows the key. */
function bearerKey(header: string): string {
  // The length is checked first, so that unauthenticated requests cannot cause expensive work.
  const match = header.length > limits.maxKeyBytes + 16 ? null : /^bearer +([\x21-\x7e]+)$/i.exec(header.trim());
  const key = match?.[1];
  if (key === undefined) throw new Problem('unauthenticated', 'The Authorization header must be `Bearer <key>`.', { reason: 'malformed' });
  return key;
}

/** The header contains only the key, with the limits of a bearer key. */
function plainKey(name: ApiKeyHeader, header: string): string {
  const key = header.length > limits.maxKeyBytes + 16 ? undefined : /^[\x21-\x7e]+$/.exec(header.trim())?.[0];
  if (key === undefined) throw new Problem('unauthenticated', `The ${name} header must be the key alone.`, { reason: 'malformed' });
  return key;
}
