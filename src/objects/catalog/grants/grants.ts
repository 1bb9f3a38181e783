/**
 * The grants of people to MCP clients (OAuth). The OAuth library creates grants and tokens; the Catalog runs its requests one after the
 * other on its own table, so that a code or a refresh token is used once. The library is loaded on demand.
 */
import { isAllowed } from '../../../core/people/authority.ts';
import { readMcpPathBehind, readMcpResource } from '../../../core/servers/mcp-resource.ts';
import { rootUser } from '../../../core/people/person.ts';
import { keyIdOfUser, systemKeyId } from '../../../core/people/principal.ts';
import { GrantScope, type AcceptedRequest, type GrantUser, type GrantView, type OAuthClient } from '../../../core/people/grant.ts';
import { isRecord } from '../../../core/json/wire-value.ts';
import { Problem, quoted } from '../../../core/problem.ts';
import { readToolsetReference } from '../../../core/toolset/toolset.ts';
import type { KeyRights, Page, PageRequest } from '../../../ports/catalog.ts';
import type { TokenReply, TokenRequest } from '../../../ports/grants.ts';
import { openToken, sealToken, type TokenKind } from '../../../storage/keys/access-token.ts';
import type { KeyVerdict } from '../client/catalog-methods.ts';
import { newestFirst } from '../../../storage/list-pages.ts';
import type { CatalogContext } from '../context.ts';
import { originRights, rootProofOf } from '../keys/origin-rights.ts';
import { callerLimits } from '../documents/workspace-settings.ts';
import { isoTime } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { createOAuthRecords, keysOf } from './oauth-records.ts';

/** A client that registers anew for each sign-in leaves a grant each time; the oldest ones end. */
const maxGrantsOfUser = 100;
/** Access tokens of a grant that have not expired. */
const maxTokensOfGrant = 10;

/** What the library stores with a grant, readable without a token. `rootProof`: of a person who signed in with the root key. */
type GrantMetadata = { user: GrantUser; clientName: string; path: string; rootProof?: string };

/** What the library stores of a grant; only the members that are read here. */
type StoredGrant = {
  id: string;
  userId: string;
  clientId: string;
  scope: string[];
  metadata: GrantMetadata;
  createdAt: number;
  expiresAt?: number;
  resource: string;
  redirectUri: string;
  authCodeWrappedKey?: string;
};

export async function grantAccess(
  context: CatalogContext,
  user: GrantUser,
  request: AcceptedRequest,
  rootProof?: string,
): Promise<{ redirectTo: string }> {
  const { client, scopes, resource, issuer } = request;
  const own = { user, clientName: client.clientName ?? '', path: new URL(resource).pathname };
  const metadata: GrantMetadata = { ...own, ...(rootProof !== undefined && { rootProof }) };
  const { redirectTo } = await (await helpers(context, issuer, resource, client)).completeAuthorization({
    userId: user.id,
    scope: [...scopes],
    metadata,
    props: {},
    request: {
      ...{ responseType: 'code', clientId: client.clientId, redirectUri: request.redirectUri, scope: [...scopes] },
      ...{ state: request.state, codeChallenge: request.codeChallenge, codeChallengeMethod: 'S256', resource, issuer },
    },
  });
  const url = new URL(redirectTo);
  url.searchParams.set('code', await seal(context, 'code', url.searchParams.get('code') ?? ''));
  const surplus = context.sql.exec<{ key: string }>(surplusGrants, ...keysOf('grant', user.id), maxGrantsOfUser).toArray();
  for (const { key } of surplus) dropGrant(context, key);
  const newest = context.sql.exec<{ key: string }>(newestGrant, ...keysOf('grant', user.id)).toArray()[0]?.key ?? '';
  context.record(() => recordChange(context, { by: keyIdOfUser(user.id), action: 'create', resource: 'grant', name: grantIdOf(newest) }));
  return { redirectTo: url.toString() };
}

export async function redeemToken(context: CatalogContext, request: TokenRequest): Promise<TokenReply> {
  const form = new URLSearchParams(request.form.map(([name, value]) => [name, value]));
  const opened = await openTokens(context, form);
  const grantKey = opened === null ? null : grantKeyOf(opened.inner);
  const grant = grantKey === null ? null : readGrant(context, grantKey);
  // The user is no longer a member, or the root key has changed: the library does not find the grant.
  if (grantKey !== null && grant !== null && (await rightsOf(context, grant)) === null) endStoredGrant(context, grantKey, systemKeyId);
  const asked = form.getAll('resource').length === 1 ? readMcpResource(request.issuer, form.get('resource') ?? '') : null;
  if (asked !== null) form.set('resource', asked.resource);
  // The resource of a grant is fixed; the library compares it with the request's. One that has ended is refused for that reason only.
  const resource = grant?.resource ?? asked?.resource ?? `${request.issuer}/mcp`;
  const { createAuthorizationServer, noContext } = await import('../../../mcp/authorization/library.ts');
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  if (request.authorization !== null) headers.set('authorization', request.authorization);
  const sent = new Request(`${request.issuer}/oauth/token`, { method: 'POST', headers, body: form.toString() });
  const store = createOAuthRecords(context, request.client);
  const response = await createAuthorizationServer(request.issuer, resource).fetch(sent, { OAUTH_KV: store }, noContext);
  const text = await response.text();
  const body = parse(text);
  if (grantKey !== null && grant !== null) {
    // A refresh token that was issued here and is not accepted any more was used before: someone else may have it.
    if (opened?.kind === 'refresh' && grant.clientId === request.client.clientId && isRefused(form, body))
      endStoredGrant(context, grantKey);
    for (const { key } of context.sql.exec<{ key: string }>(surplusTokens, ...tokenRange(grantKey), maxTokensOfGrant).toArray())
      context.sql.exec('DELETE FROM oauth_records WHERE key = ?', key);
    if (response.ok && grant.metadata.rootProof !== undefined) await renewProof(context, grantKey);
  }
  for (const [member, kind] of [
    ['access_token', 'access'],
    ['refresh_token', 'refresh'],
  ] as const)
    if (typeof body?.[member] === 'string') body[member] = await seal(context, kind, body[member]);
  const kept = [...response.headers].filter(([name]) => ['content-type', 'www-authenticate', 'retry-after', 'allow'].includes(name));
  return { status: response.status, headers: kept, body: body === null ? text : JSON.stringify(body) };
}

/** After a rotation of the master key, the proof of before is accepted for a limited time. The grant's code or token was valid. */
async function renewProof(context: CatalogContext, key: string): Promise<void> {
  const proof = await rootProofOf(context).current();
  const renew = "UPDATE oauth_records SET value = json_set(value, '$.metadata.rootProof', ?) WHERE key = ?";
  context.record(() => context.sql.exec(renew, proof, key));
}

/** Returns what an access token may do: what its user may do now, at its resource, within its scopes. */
export async function verifyToken(context: CatalogContext, inner: string): Promise<KeyVerdict> {
  const grantKey = grantKeyOf(inner);
  const grant = readGrant(context, grantKey);
  if (grant === null) return { refused: 'revoked' };
  const token = await (await helpers(context, new URL(grant.resource).origin, grant.resource, null)).unwrapToken(inner);
  if (token === null) return { refused: 'expired' };
  const user = await rightsOf(context, grant);
  if (user === null) {
    endStoredGrant(context, grantKey, systemKeyId);
    return { refused: 'revoked' };
  }
  const path = grant.metadata.path;
  const reference = readMcpPathBehind(path)?.toolset ?? null;
  const scopes = GrantScope.options.filter(
    (scope) => token.scope.includes(scope) && isAllowed(user, { act: 'use-scope', scopes: [scope] }),
  );
  const nameOf = (toolset: string): string => readToolsetReference(toolset).name;
  const toolsets = reference === null ? user.toolsets : (user.toolsets ?? [reference]).filter((own) => nameOf(own) === nameOf(reference));
  return {
    principal: {
      workspace: context.workspace,
      keyId: keyIdOfUser(grant.userId),
      scopes,
      ...(toolsets !== undefined && { toolsets }),
      ...(user.agents !== undefined && { agents: user.agents }),
      ...callerLimits(context.sql),
      audience: grant.resource,
      user: grant.metadata.user,
    },
    expiresAt: token.expiresAt * 1000,
  };
}

/** Returns what the user of a grant may do now; null if the user is no longer a member, or the root key of the user has changed. */
async function rightsOf(context: CatalogContext, { userId, createdAt, metadata: { rootProof } }: StoredGrant): Promise<KeyRights | null> {
  // The library stores seconds, rounded down.
  const origin = { keyId: keyIdOfUser(userId), at: (createdAt + 1) * 1000 - 1 };
  return await originRights(context, { ...origin, ...(rootProof !== undefined && { rootProof }) });
}

/** Ends the grants of people who signed in with an earlier root key. */
export async function endGrantsOfEarlierRoot(context: CatalogContext): Promise<void> {
  const range = keysOf('grant', rootUser.id);
  for (const { key, value } of context.sql.exec<{ key: string; value: string }>(grantsOfUser, ...range, maxGrantsOfUser).toArray())
    if ((await rightsOf(context, JSON.parse(value) as StoredGrant)) === null) endStoredGrant(context, key, systemKeyId);
}

/** Newest first. Grants whose code was not exchanged yet are not listed. */
export async function listGrants(context: CatalogContext, page: PageRequest, userId: string | null): Promise<Page<GrantView>> {
  await endGrantsOfEarlierRoot(context);
  const { sql, now } = context;
  const [from, to] = userId === null ? ['grant:', 'grant;'] : keysOf('grant', userId);
  return newestFirst(
    'grants',
    page,
    (before, count) => sql.exec<{ number: number; value: string }>(readGrants, from, to, now(), before, count),
    ({ value }) => viewOf(JSON.parse(value) as StoredGrant),
  );
}

/** Throws `not_found`. */
export function endGrant(context: CatalogContext, id: string, userId: string | null, by: string): void {
  const [from, to] = userId === null ? ['grant:', 'grant;'] : keysOf('grant', userId);
  const found = context.sql.exec<{ key: string }>(findGrant, from, to, id).toArray()[0];
  if (found === undefined) throw new Problem('not_found', `The grant ${quoted(id)} does not exist.`);
  endStoredGrant(context, found.key, by);
}

function endStoredGrant(context: CatalogContext, key: string, by = keyIdOfUser(key.split(':')[1] ?? '')): void {
  dropGrant(context, key);
  context.record(() => recordChange(context, { by, action: 'revoke', resource: 'grant', name: grantIdOf(key) }));
}

/** Deletes a grant with its tokens. */
function dropGrant(context: CatalogContext, key: string): void {
  context.record(() => {
    context.sql.exec('DELETE FROM oauth_records WHERE key >= ? AND key < ?', ...tokenRange(key));
    context.sql.exec('DELETE FROM oauth_records WHERE key = ?', key);
  });
}

const readGrants = `SELECT number, value FROM oauth_records WHERE key >= ? AND key < ? AND (expires_at IS NULL OR expires_at > ?)
  AND number < ? AND value ->> '$.authCodeWrappedKey' IS NULL ORDER BY number DESC LIMIT ?`;
const findGrant = `SELECT key FROM oauth_records WHERE key >= ? AND key < ? AND value ->> '$.id' = ?`;
const grantsOfUser = 'SELECT key, value FROM oauth_records WHERE key >= ? AND key < ? ORDER BY number DESC LIMIT ?';
const newestGrant = 'SELECT key FROM oauth_records WHERE key >= ? AND key < ? ORDER BY number DESC LIMIT 1';
const surplusGrants = 'SELECT key FROM oauth_records WHERE key >= ? AND key < ? ORDER BY number DESC LIMIT -1 OFFSET ?';
const surplusTokens = surplusGrants;

/** `inner`: `<user>:<grant>:<secret>`. */
function grantKeyOf(inner: string): string {
  return `grant:${inner.split(':').slice(0, 2).join(':')}`;
}

function grantIdOf(key: string): string {
  return key.slice(key.lastIndexOf(':') + 1);
}

function tokenRange(grantKey: string): [from: string, to: string] {
  const prefix = grantKey.replace(/^grant/, 'token');
  return [`${prefix}:`, `${prefix};`];
}

function readGrant({ sql, now }: CatalogContext, key: string): StoredGrant | null {
  const query = 'SELECT value FROM oauth_records WHERE key = ? AND (expires_at IS NULL OR expires_at > ?)';
  const row = sql.exec<{ value: string }>(query, key, now()).toArray()[0];
  return row === undefined ? null : (JSON.parse(row.value) as StoredGrant);
}

async function helpers(context: CatalogContext, issuer: string, resource: string, client: OAuthClient | null) {
  const { createAuthorizationServer } = await import('../../../mcp/authorization/library.ts');
  return createAuthorizationServer(issuer, resource).getOAuthApi({ OAUTH_KV: createOAuthRecords(context, client) });
}

const tokenFields = [
  ['code', ['code']],
  ['refresh_token', ['refresh']],
  ['token', ['access', 'refresh']],
] as const satisfies readonly (readonly [string, readonly TokenKind[]])[];

/**
 * Replaces the tokens of a form by those that the library knows. One that was not issued for this workspace and this use becomes a text that
 * the library refuses.
 */
async function openTokens({ master, workspace }: CatalogContext, form: URLSearchParams) {
  let found: { kind: TokenKind; inner: string } | null = null;
  for (const [field, kinds] of tokenFields) {
    const given = form.get(field);
    if (given === null) continue;
    const token = await openToken(master, given);
    const isUsable = token !== null && token.workspace === workspace && kinds.some((kind) => kind === token.kind);
    form.set(field, isUsable ? token.inner : 'invalid');
    if (isUsable) found = token;
  }
  return found;
}

async function seal({ master, workspace }: CatalogContext, kind: TokenKind, inner: string): Promise<string> {
  return await sealToken(master, { kind, workspace, inner });
}

function isRefused(form: URLSearchParams, body: Record<string, unknown> | null): boolean {
  return form.get('grant_type') === 'refresh_token' && body?.error === 'invalid_grant';
}

function parse(text: string): Record<string, unknown> | null {
  const value: unknown = text === '' ? null : JSON.parse(text);
  return isRecord(value) ? value : null;
}

function viewOf({ id, clientId, metadata: { user, clientName }, ...grant }: StoredGrant): GrantView {
  const { protocol, host } = new URL(grant.redirectUri);
  return {
    id,
    user,
    client: { id: clientId, name: clientName, redirectScheme: protocol.slice(0, -1), redirectHost: host },
    resource: grant.resource,
    scopes: GrantScope.options.filter((scope) => grant.scope.includes(scope)),
    createdAt: isoTime(grant.createdAt * 1000),
    expiresAt: grant.expiresAt === undefined ? null : isoTime(grant.expiresAt * 1000),
  };
}
