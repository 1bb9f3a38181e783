/** Checks an authorization request with the OAuth library. */
import { AuthorizationError, authorizationErrorRedirect } from '@cloudflare/workers-oauth-provider';
import { readGrantScopes, type OAuthClient } from '../../core/people/grant.ts';
import { readMcpResource } from '../../core/servers/mcp-resource.ts';
import { quoted } from '../../core/problem.ts';
import { redirectFault, redirectKind } from '../../core/people/redirect-uri.ts';
import { AuthorizationRefused, type AuthorizationRequest } from './checked-request.ts';
import { createClientStore } from './client-store.ts';
import { createAuthorizationServer } from './library.ts';

type Context = { issuer: string; client: OAuthClient; schemes: readonly string[] };

export async function readRequest({ issuer, client, schemes }: Context, query: URLSearchParams): Promise<AuthorizationRequest> {
  requireRedirectUri(client, schemes, query.get('redirect_uri') ?? '');
  // Clients of revisions before RFC 8707 was required know one endpoint.
  const target = readMcpResource(issuer, query.get('resource') ?? `${issuer}/mcp`);
  const server = createAuthorizationServer(issuer, target?.resource ?? `${issuer}/mcp`);
  const sent = new URLSearchParams(query);
  if (target !== null) sent.set('resource', target.resource);
  try {
    const helpers = server.getOAuthApi({ OAUTH_KV: createClientStore(client) });
    const parsed = await helpers.parseAuthRequest(new Request(`${issuer}/oauth/authorize?${sent}`));
    const refused = (code: 'invalid_request' | 'invalid_target', why: string) =>
      new AuthorizationRefused(why, authorizationErrorRedirect(parsed, code, why));
    // Required of clients with a secret too: a stolen code alone is useless.
    if (parsed.codeChallenge === undefined)
      throw refused('invalid_request', 'The request has no code_challenge: PKCE with S256 is required.');
    if (target === null)
      throw refused('invalid_target', `The resource must be the URL of an MCP endpoint of this service, such as ${issuer}/mcp/demo.`);
    return {
      ...{ issuer, client, redirectUri: parsed.redirectUri, state: parsed.state, codeChallenge: parsed.codeChallenge },
      ...{ resource: target.resource, scopes: readGrantScopes(parsed.scope.join(' ')), endpoint: target },
      domain: URL.parse(client.clientId)?.hostname ?? null,
    };
  } catch (error) {
    if (error instanceof AuthorizationError) throw new AuthorizationRefused(`${error.description}.`, error.redirectTo ?? null);
    throw error;
  }
}

/** Throws for a URI that no code may be sent to now, whatever the client has registered. Only loopback addresses may differ, in their port. */
function requireRedirectUri(client: OAuthClient, schemes: readonly string[], uri: string): void {
  const fault = redirectFault(uri, { schemes, isPublic: client.tokenEndpointAuthMethod === 'none' });
  if (fault !== null) throw new AuthorizationRefused(`The redirect_uri ${quoted(uri)} ${fault.why}.`, null);
  if (redirectKind(new URL(uri)) === 'private-use' && !client.redirectUris.includes(uri))
    throw new AuthorizationRefused(
      `The redirect_uri ${quoted(uri)} is not one that the client has registered. Remove the connection in the client and connect it again.`,
      null,
    );
}

export function declinedUrl({ redirectUri, state, issuer }: AuthorizationRequest): string {
  return authorizationErrorRedirect({ redirectUri, state, issuer }, 'access_denied', 'The user declined.');
}
