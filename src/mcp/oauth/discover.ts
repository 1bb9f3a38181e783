/**
 * Who gives tokens for a server, and for what: protected resource metadata (RFC 9728) at the address that the server's own challenge
 * tells, else at its well-known ones; then the metadata of the issuer (RFC 8414, or OpenID Connect Discovery), which must name itself
 * as it was asked. The SDK does the asking; this file takes what is used of it.
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
import type { OAuthContext } from './context.ts';
import { exchangeWith, type Exchange } from './exchange.ts';
import { Issuer, type Hint } from './grant.ts';

/** What a `WWW-Authenticate` asks for. */
export type Challenge = Hint & { isInsufficientScope: boolean };

/** null: it is no challenge that tells anything. */
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

export async function discoverIssuer(context: OAuthContext, hint: Hint | null): Promise<Issuer> {
  const { name, url } = context.server;
  return await exchangeWith(context, `finding out who gives tokens for ${name}`, async (exchange) => {
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
    throw new Problem('upstream_error', `The metadata of the authorization server of ${name} is too large or not what it should be.`, {
      retryable: false,
    });
  });
}

/**
 * In the revision of 2025-03-26 the metadata stands at the root of the server's own origin, whatever path its issuer has. Of another origin
 * it would be a lie, and stays a fault. Throws `error` again for all else.
 */
async function ownIssuer(server: string, error: unknown, exchange: Exchange): Promise<OAuthServerInfo> {
  const { origin } = new URL(server);
  const isOwn = error instanceof IssuerMismatchError && error.kind === 'metadata' && error.expected === `${origin}/`;
  if (!isOwn || !URL.canParse(String(error.received)) || new URL(String(error.received)).origin !== origin) throw error;
  const metadata = await discoverAuthorizationServerMetadata(origin, { fetchFn: exchange.fetch, skipIssuerValidation: true });
  if (metadata === undefined || new URL(metadata.issuer).origin !== origin) throw error;
  return { authorizationServerUrl: `${origin}/`, authorizationServerMetadata: metadata };
}

/** Metadata that speaks of another resource would get us tokens for that one (RFC 9728 §3.3). */
function requireOwnResource({ server }: OAuthContext, resource: string): void {
  const own = resourceUrlFromServerUrl(server.url);
  if (URL.canParse(resource) && checkResourceAllowed({ requestedResource: own, configuredResource: resource })) return;
  const detail = `The metadata of ${server.name} is for another resource than ${own.href}: nobody signs in by it.`;
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** Neither it nor the server says anything: only a challenge of the server could. */
export function isUnknown({ metadata, resource }: Issuer): boolean {
  return metadata === null && resource === null;
}

/** The issuer's own word for itself, which is what tokens and clients are bound to. */
export function issuerId({ metadata, url }: Issuer): string {
  return metadata?.issuer ?? url;
}

/** Where codes, secrets and refresh tokens are sent: where the issuer says, on whatever host; else its own `/token` (as of 2025-03-26). */
export function tokenEndpoint({ metadata, url }: Issuer): string {
  return metadata?.token_endpoint ?? new URL('/token', url).href;
}

/**
 * What to ask for (MCP authorization, "Scope Selection Strategy"): what the administrator says; else what the server's challenge says; else all
 * that the resource has. `offline_access` beside it where the issuer gives refresh tokens for that, for somebody who signs in.
 */
export function scopeToAsk({ server }: OAuthContext, issuer: Issuer, hint: Hint | null): string | null {
  const { scopes, grant } = server.oauth;
  if (scopes !== undefined) return scopes.length === 0 ? null : scopes.join(' ');
  const scope = hint?.scope ?? computeScopeUnion(issuer.resource?.scopes?.filter(isScope).join(' ')) ?? null;
  const isOffered = issuer.metadata?.scopes_supported?.includes('offline_access') === true;
  return scope !== null && grant === 'authorization_code' && isOffered ? (computeScopeUnion(scope, 'offline_access') ?? null) : scope;
}
