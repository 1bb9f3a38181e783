/**
 * A person signs in to a server, once (authorization code with PKCE, OAuth 2.1 §4.1): the address that they open, what they come back
 * with, and forgetting it. Between the two stands the grant, which keeps the verifier; that the answer is theirs is told by a nonce
 * that is used once. Which server a nonce is of stands signed beside it (`storage/sign-in-state.ts`).
 */
import { startAuthorization, validateAuthorizationResponseIssuer } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { AuthorizationStatus } from '../../core/servers/authorization-status.ts';
import { clientFor } from './client.ts';
import type { OAuthContext } from './context.ts';
import { discoverIssuer, scopeToAsk } from './discover.ts';
import { exchangeWith, isSafeUrl, shortWords } from './exchange.ts';
import type { Grant, SignIn } from './grant.ts';
import { changeGrant, readGrant, writeGrant } from './grant-store.ts';
import { tokensByCode } from './request-tokens.ts';
import { revoke } from './revoke.ts';

export type SignInRequest = {
  /** Where the person comes back to. */
  redirectUri: string;
  /** Of our own client metadata document, where it can be reached over https; null: nowhere. */
  metadataUrl: string | null;
  /** Fresh, and not to be guessed. */
  nonce: string;
  /** What comes back with the person: carries the nonce. */
  state: string;
  expiresAt: number;
};

/** The address to open, which is data: nothing here opens it. A sign-in that was begun before is begun anew. */
export async function beginSignIn(context: OAuthContext, request: SignInRequest): Promise<string> {
  requirePerson(context);
  const { grant } = await readGrant(context);
  const issuer = await discoverIssuer(context, grant.hint);
  const scope = scopeToAsk(context, issuer, grant.hint);
  const { client, registrations } = await clientFor(context, grant.registrations, { ...request, issuer, scope });
  const { authorizationUrl, codeVerifier } = await exchangeWith(context, 'beginning to sign in', () =>
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
  await changeGrant(context, (newest) => ({ ...newest, registrations, signIn }));
  return authorizationUrl.href;
}

function requirePerson({ server }: OAuthContext): void {
  if (server.oauth.grant === 'authorization_code') return;
  const detail = `The server ${server.name} gets its tokens by itself (\`client_credentials\`): nobody signs in to it.`;
  throw new Problem('conflict', detail);
}

function requireOpenable(url: URL): void {
  if (isSafeUrl(url) && url.username === '' && url.password === '' && url.href.length <= limits.maxUrlLength) return;
  const detail = 'The authorization server names an address to sign in at that is not https: nobody should open it.';
  throw new Problem('upstream_error', detail, { retryable: false });
}

/** What a person came back with: parameters of the redirect address. */
export type Returned = { code: string | null; iss: string | null; error: string | null; errorDescription: string | null };

/** Once for each nonce, whatever comes of it. `not_found`: it was used, has run out, or another sign-in was begun since. */
export async function finishSignIn(context: OAuthContext, nonce: string, returned: Returned): Promise<void> {
  const { signIn } = await changeGrant(context, (grant) => (isOf(grant, nonce) ? { ...grant, signIn: null } : null));
  if (signIn === null || signIn.nonce !== nonce || signIn.expiresAt <= context.clock.now()) throw usedUp();
  const { code, iss } = returned;
  // Before anything of the answer is used or shown: it may be of another issuer (RFC 9207 §2.4).
  await exchangeWith(context, 'signing in', async () => requireIssuer(signIn, iss));
  if (code === null || code === '' || code.length > limits.maxUrlLength) throw refusal(returned);
  const tokens = await tokensByCode(context, signIn, code, iss);
  await changeGrant(context, (grant) => ({ ...grant, tokens, lost: null, renewedUntil: null }));
  context.log.info('somebody has signed in', { server: context.server.name, issuer: signIn.issuer.url });
}

function isOf({ signIn }: Grant, nonce: string): boolean {
  return signIn !== null && signIn.nonce === nonce;
}

export function usedUp(): Problem {
  return new Problem('not_found', 'This sign-in was used already, has run out, or was begun anew: begin it again.');
}

function requireIssuer({ issuer }: SignIn, iss: string | null): void {
  validateAuthorizationResponseIssuer({
    iss: iss ?? undefined,
    expectedIssuer: issuer.metadata?.issuer,
    issParameterSupported: issuer.metadata?.authorization_response_iss_parameter_supported === true,
  });
}

function refusal({ error, errorDescription }: Returned): Problem {
  if (error === null) return new Problem('upstream_error', 'The authorization server sent no code: begin again.', { retryable: false });
  const words = shortWords(errorDescription ?? '');
  const detail = `The authorization server says: ${shortWords(error)}${words === '' ? '' : ` (${words})`}`;
  return new Problem('upstream_error', detail, { retryable: false });
}

/** Nobody is signed in after this. That the tokens end at their issuer, too, is asked for, and not waited for twice. */
export async function forgetSignIn(context: OAuthContext): Promise<void> {
  const { grant, revision } = await readGrant(context);
  let dropped = grant;
  if (!(await writeGrant(context, null, revision))) {
    // Written between: once more, whatever it was.
    dropped = await changeGrant(context, (newest) => ({ ...newest, tokens: null, lost: null, signIn: null, renewedUntil: null }));
  }
  if (dropped.tokens !== null) await revoke(context, dropped.tokens);
}

/** As GET of the server shows it. */
export async function signInStatus(context: OAuthContext): Promise<AuthorizationStatus> {
  const { tokens, lost } = (await readGrant(context)).grant;
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
