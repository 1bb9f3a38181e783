/**
 * Signs a user in to a server (authorization code with PKCE, OAuth 2.1 §4.1): creates the authorization URL, handles the response, and
 * deletes the sign-in. In between, the grant stores the verifier; a single-use nonce ties the response to the request. The signed state
 * names the server (`storage/keys/signed-token.ts`).
 */
import { startAuthorization, validateAuthorizationResponseIssuer, selectClientAuthMethod } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { AuthorizationStatus } from '../../core/servers/server-state.ts';
import { clientFor, withSecret } from './client.ts';
import { type OAuthContext, createOAuthExchange, isSafeUrl, shortText } from './exchange.ts';
import { askForChallenge, discoverIssuer, isUnknown, scopeToRequest } from './discover.ts';
import { type Grant, type SignIn, changeGrant, readStoredGrant, sharedBy, writeGrant, type Client, type Tokens } from './grant.ts';
import { tokensByCode } from './request-tokens.ts';

export type SignInRequest = {
  /** The redirect URI of the sign-in. */
  redirectUri: string;
  /** URL of our client metadata document, if it is reachable over https; otherwise null. */
  metadataUrl: string | null;
  /** New and unguessable. */
  nonce: string;
  /** Returned with the response; contains the nonce. */
  state: string;
  expiresAt: number;
  /** The document of the server has no `oauth`, so the server has to say that it has a sign-in. */
  isImplied: boolean;
};

/** Returns the authorization URL for the user. A pending sign-in is replaced. */
export async function beginSignIn(context: OAuthContext, request: SignInRequest): Promise<string> {
  requirePerson(context);
  const shared = sharedBy(context);
  const { grant } = await readStoredGrant(shared);
  const hint = grant.hint ?? (await askForChallenge(context));
  const issuer = await discoverIssuer(context, hint);
  if (request.isImplied && isUnknown(issuer)) throw noSignIn(context);
  const scope = scopeToRequest(context, issuer, hint);
  const { client, registrations } = await clientFor(context, grant.registrations, { ...request, issuer, scope });
  const { authorizationUrl, codeVerifier } = await createOAuthExchange(context, 'starting the sign-in', () =>
    startAuthorization(issuer.url, {
      ...(issuer.metadata !== null && { metadata: issuer.metadata }),
      clientInformation: client,
      redirectUrl: request.redirectUri,
      state: request.state,
      ...(scope !== null && { scope }),
      ...(issuer.resource !== null && { resource: issuer.resource.id }),
    }),
  );
  requireOpenable(authorizationUrl);
  const { nonce, redirectUri, expiresAt } = request;
  const signIn: SignIn = { nonce, expiresAt, codeVerifier, redirectUri, scope, client, issuer };
  if (context.owner !== undefined && registrations !== grant.registrations)
    await changeGrant(shared, (newest) => ({ ...newest, registrations }));
  await changeGrant(context, (newest) => ({ ...newest, ...(context.owner === undefined && { registrations, hint }), signIn }));
  return authorizationUrl.href;
}

function noSignIn({ server: { name } }: OAuthContext): Problem {
  const detail = `The server ${name} publishes no metadata of a sign-in (RFC 9728, RFC 8414). If it has one, set \`oauth\` in its document.`;
  return new Problem('conflict', detail);
}

function requirePerson({ server }: OAuthContext): void {
  if (server.oauth.grant === 'authorization_code') return;
  throw new Problem('conflict', `The server ${server.name} uses \`client_credentials\`, which has no user sign-in.`);
}

function requireOpenable(url: URL): void {
  if (isSafeUrl(url) && url.username === '' && url.password === '' && url.href.length <= limits.maxUrlLength) return;
  const detail = 'The authorization endpoint of the authorization server is not https, so it must not be opened.';
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** The parameters of the authorization response. */
export type AuthorizationResponse = { code: string | null; iss: string | null; error: string | null; errorDescription: string | null };

/** Works once for each nonce, whatever the outcome. `not_found`: the nonce was used, has expired, or was replaced by another sign-in. */
export async function finishSignIn(context: OAuthContext, nonce: string, returned: AuthorizationResponse): Promise<void> {
  const { signIn } = await changeGrant(context, (grant) => (isOf(grant, nonce) ? { ...grant, signIn: null } : null));
  if (signIn === null || signIn.nonce !== nonce || signIn.expiresAt <= context.clock.now()) throw signInUsed();
  const { code, iss } = returned;
  // Checked before anything else in the response is used or shown: it may come from another issuer (RFC 9207 §2.4).
  await createOAuthExchange(context, 'signing in', async () => requireIssuer(signIn, iss));
  if (code === null || code === '' || code.length > limits.maxUrlLength) throw refusal(returned);
  const tokens = await tokensByCode(context, signIn, code, iss);
  await changeGrant(context, (grant) => ({ ...grant, tokens, lost: null, renewedUntil: null }));
  context.log.info('signed in', { server: context.server.name, issuer: signIn.issuer.url });
}

function isOf({ signIn }: Grant, nonce: string): boolean {
  return signIn !== null && signIn.nonce === nonce;
}

export function signInUsed(): Problem {
  return new Problem('not_found', 'This sign-in was already used, has expired, or was replaced. Start it again.');
}

function requireIssuer({ issuer }: SignIn, iss: string | null): void {
  validateAuthorizationResponseIssuer({
    iss: iss ?? undefined,
    expectedIssuer: issuer.metadata?.issuer,
    issParameterSupported: issuer.metadata?.authorization_response_iss_parameter_supported === true,
  });
}

function refusal({ error, errorDescription }: AuthorizationResponse): Problem {
  if (error === null)
    return new Problem('upstream_error', 'The authorization server sent no code. Start the sign-in again.', { retryable: false });
  const words = shortText(errorDescription ?? '');
  const detail = `The authorization server returned: ${shortText(error)}${words === '' ? '' : ` (${words})`}`;
  return new Problem('upstream_error', detail, { retryable: false });
}

/** Deletes the sign-in. Also revokes the tokens at their issuer, best effort. */
export async function forgetSignIn(context: OAuthContext): Promise<void> {
  const { grant, revision } = await readStoredGrant(context);
  let dropped = grant;
  if (!(await writeGrant(context, null, revision))) {
    // Written concurrently: delete again, whatever was written.
    dropped = await changeGrant(context, (newest) => ({ ...newest, tokens: null, lost: null, signIn: null, renewedUntil: null }));
  }
  if (dropped.tokens !== null) await revoke(context, dropped.tokens);
}

/** Returns the status that GET of the server shows. */
export async function signInStatus(context: OAuthContext): Promise<AuthorizationStatus> {
  const { tokens, lost } = (await readStoredGrant(context)).grant;
  if (tokens === null) return { status: lost === null ? 'signed-out' : 'expired' };
  const { expiresAt, refreshToken, scope } = tokens;
  const isOver = expiresAt !== null && expiresAt <= context.clock.now();
  const canRenew = refreshToken !== null || context.server.oauth.grant === 'client_credentials';
  return {
    status: isOver && !canRenew ? 'expired' : 'signed-in',
    ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
    ...(scope !== null && { scopes: scope.split(' ').filter((one) => one !== '') }),
  };
}

/** Best effort: the tokens are deleted here in any case. */
export async function revoke(context: OAuthContext, tokens: Tokens): Promise<void> {
  const { issuer } = tokens;
  const endpoint = issuer.metadata?.revocation_endpoint;
  if (endpoint === undefined) return;
  try {
    await createOAuthExchange(context, 'revoking tokens', async (exchange) => {
      // A secret of the workspace is bound to the host of the token endpoint and is not sent to another host.
      const isThere = new URL(endpoint).host === new URL(issuer.metadata?.token_endpoint ?? endpoint).host;
      const client = isThere ? await withSecret(context, tokens.client, issuer, exchange) : { client_id: tokens.client.client_id };
      const token = exchange.hide(tokens.refreshToken ?? tokens.accessToken);
      const hint = tokens.refreshToken === null ? 'access_token' : 'refresh_token';
      const { headers, body } = authenticated(client, issuer.metadata?.token_endpoint_auth_methods_supported ?? []);
      body.set('token', token);
      body.set('token_type_hint', hint);
      const answer = await exchange.fetch(endpoint, { method: 'POST', headers, body });
      if (!answer.ok) context.log.info('tokens were not revoked', { server: context.server.name, status: answer.status });
    });
  } catch (error) {
    context.log.info('tokens were not revoked', { server: context.server.name, reason: String(error) });
  }
}

/** Uses the SDK's choice of authentication method for token endpoints. */
function authenticated(client: Client, supported: string[]): { headers: Headers; body: URLSearchParams } {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
  const method = selectClientAuthMethod(client, supported);
  if (method === 'client_secret_basic' && client.client_secret !== undefined) {
    headers.set('authorization', `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`);
    return { headers, body: new URLSearchParams() };
  }
  const secret = method === 'client_secret_post' ? client.client_secret : undefined;
  return { headers, body: new URLSearchParams({ client_id: client.client_id, ...(secret !== undefined && { client_secret: secret }) }) };
}
