/**
 * Finds the authorization server of an MCP server, and the scopes: protected resource metadata (RFC 9728) at the URL in the server's
 * challenge or at its well-known URLs; then the issuer's metadata (RFC 8414 or OpenID Connect Discovery), whose `issuer` must match. The
 * SDK sends the requests; this file extracts the fields in use.
 */
import {
  checkResourceAllowed,
  computeScopeUnion,
  discoverAuthorizationServerMetadata,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type OAuthServerInfo,
  resourceUrlFromServerUrl,
} from '@modelcontextprotocol/client';
import { Problem } from '../../core/problem.ts';
import { version } from '../../core/version.ts';
import type { SignInOffer } from '../../ports/upstream.ts';
import { type OAuthContext, createOAuthExchange, type OAuthExchange } from './exchange.ts';
import { Issuer, type Hint } from './grant.ts';

/** The fields of a `WWW-Authenticate` challenge. */
export type Challenge = Hint & { isInsufficientScope: boolean };

/** Returns null if the header contains no usable challenge. */
export function readChallenge(header: string | null): Challenge | null {
  if (header === null || header.length > maxChallengeLength) return null;
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(
    new Response(null, { status: 401, headers: { 'www-authenticate': header } }),
  );
  return {
    resourceMetadataUrl: resourceMetadataUrl?.href ?? null,
    scope: scope !== undefined && isScope(scope) ? scope : null,
    isInsufficientScope: error === 'insufficient_scope',
  };
}

const maxChallengeLength = 16_384;

/** RFC 6749 §3.3. */
function isScope(text: string): boolean {
  return text.length <= 4_000 && /^[\x21\x23-\x5b\x5d-\x7e]+( +[\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text);
}

/** Whether a user can sign in to a server that refused a request. `header`: its `WWW-Authenticate`. Never throws. */
export async function readSignInOffer(context: OAuthContext, header: string | null): Promise<SignInOffer> {
  const { name } = context.server;
  try {
    if (isUnknown(await discoverIssuer(context, readChallenge(header)))) return { isOffered: false };
  } catch (error) {
    const why = error instanceof Problem ? error.detail : 'internal error; see the log.';
    return { isOffered: false, text: `A sign-in (OAuth) is not possible: ${why}` };
  }
  const todo = `Sign in on its page in the console, or open the URL that POST /v1/servers/${name}/authorize returns.`;
  return { isOffered: true, text: `The server ${name} requires a sign-in (OAuth). ${todo}` };
}

/** Sends a request without a token. Returns the challenge of the response; null: the server refused nothing, or has none. */
export async function askForChallenge(context: OAuthContext): Promise<Challenge | null> {
  return await createOAuthExchange(context, `asking ${context.server.name} for its sign-in`, async (exchange) => {
    const response = await exchange.fetch(context.server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams }),
    });
    return response.status === 401 ? readChallenge(response.headers.get('www-authenticate')) : null;
  });
}

const initializeParams = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'moniker', version } };

export async function discoverIssuer(context: OAuthContext, hint: Hint | null): Promise<Issuer> {
  const { name, url } = context.server;
  return await createOAuthExchange(context, `discovering the authorization server of ${name}`, async (exchange) => {
    const at = hint?.resourceMetadataUrl;
    const found = await discoverOAuthServerInfo(url, {
      fetchFn: exchange.fetch,
      ...(at != null && { resourceMetadataUrl: new URL(at) }),
    }).catch((error: unknown) => ownIssuer(url, error, exchange));
    const { resourceMetadata: resource } = found;
    if (resource !== undefined) requireOwnResource(context, resource.resource);
    const issuer = Issuer.safeParse({
      url: found.authorizationServerUrl,
      metadata: found.authorizationServerMetadata ?? null,
      resource: resource === undefined ? null : { id: resource.resource, scopes: resource.scopes_supported },
    });
    if (issuer.success) return issuer.data;
    throw new Problem('upstream_error', `The metadata of the authorization server of ${name} is too large or invalid.`, {
      retryable: false,
    });
  });
}

/**
 * In revision 2025-03-26 the metadata is at the root of the server's own origin, whatever the path of its issuer. Metadata of another
 * origin is an error. Rethrows `error` in all other cases.
 */
async function ownIssuer(server: string, error: unknown, exchange: OAuthExchange): Promise<OAuthServerInfo> {
  const { origin } = new URL(server);
  const isOwn = error instanceof IssuerMismatchError && error.kind === 'metadata' && error.expected === `${origin}/`;
  if (!isOwn || !URL.canParse(String(error.received)) || new URL(String(error.received)).origin !== origin) throw error;
  const metadata = await discoverAuthorizationServerMetadata(origin, { fetchFn: exchange.fetch, skipIssuerValidation: true });
  if (metadata === undefined || new URL(metadata.issuer).origin !== origin) throw error;
  return { authorizationServerUrl: `${origin}/`, authorizationServerMetadata: metadata };
}

/** Metadata of another resource would give us tokens for that resource (RFC 9728 §3.3). */
function requireOwnResource({ server }: OAuthContext, resource: string): void {
  const own = resourceUrlFromServerUrl(server.url);
  if (URL.canParse(resource) && checkResourceAllowed({ requestedResource: own, configuredResource: resource })) return;
  const detail = `The metadata of ${server.name} is for another resource than ${own.href}, so it cannot be used to sign in.`;
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** Neither the issuer nor the server has metadata; only a challenge of the server could name an issuer. */
export function isUnknown({ metadata, resource }: Issuer): boolean {
  return metadata === null && resource === null;
}

/** The issuer's own identifier, to which tokens and clients are bound. */
export function issuerId({ metadata, url }: Issuer): string {
  return metadata?.issuer ?? url;
}

/** Returns the token endpoint in the issuer's metadata, on any host; without metadata, its own `/token` (as of 2025-03-26). */
export function tokenEndpoint({ metadata, url }: Issuer): string {
  return metadata?.token_endpoint ?? new URL('/token', url).href;
}

/**
 * Returns the scopes to request (MCP authorization, "Scope Selection Strategy"): those set by the administrator, otherwise those of the
 * server's challenge, otherwise all of the resource. Adds `offline_access` for a user sign-in if the issuer requires it for refresh tokens.
 */
export function scopeToRequest({ server }: OAuthContext, issuer: Issuer, hint: Hint | null): string | null {
  const { scopes, grant } = server.oauth;
  if (scopes !== undefined) return scopes.length === 0 ? null : scopes.join(' ');
  const scope = hint?.scope ?? computeScopeUnion(issuer.resource?.scopes?.filter(isScope).join(' ')) ?? null;
  const isOffered = issuer.metadata?.scopes_supported?.includes('offline_access') === true;
  return scope !== null && grant === 'authorization_code' && isOffered ? (computeScopeUnion(scope, 'offline_access') ?? null) : scope;
}
