/** The three ways to obtain tokens, each one exchange: by authorization code, by refresh token, and by client credentials. */
import {
  exchangeAuthorization,
  fetchToken,
  refreshAuthorization,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { withSecret } from './client.ts';
import { type OAuthContext, createOAuthExchange, type OAuthExchange } from './exchange.ts';
import { tokenEndpoint } from './discover.ts';
import type { Client, Issuer, SignIn, Tokens } from './grant.ts';

export async function tokensByCode(context: OAuthContext, signIn: SignIn, code: string, iss: string | null): Promise<Tokens> {
  return await ask(context, signIn, signIn.scope, null, async (common, { hide }) => {
    hide(code);
    return await exchangeAuthorization(signIn.issuer.url, {
      ...common,
      authorizationCode: code,
      codeVerifier: hide(signIn.codeVerifier),
      redirectUri: signIn.redirectUri,
      ...(iss !== null && { iss }),
    });
  });
}

export async function tokensByRefresh(context: OAuthContext, old: Tokens, refreshToken: string): Promise<Tokens> {
  return await ask(context, old, old.scope, refreshToken, async (common, { hide }) => {
    hide(old.accessToken);
    return await refreshAuthorization(old.issuer.url, { ...common, refreshToken: hide(refreshToken) });
  });
}

/** RFC 6749 §4.4. */
export async function tokensByClient(context: OAuthContext, issuer: Issuer, client: Client, scope: string | null): Promise<Tokens> {
  return await ask(context, { issuer, client }, scope, null, async ({ clientInformation, metadata, resource, fetchFn }) => {
    const provider = providerOf(clientInformation);
    return await fetchToken(provider, issuer.url, {
      fetchFn,
      ...(metadata !== undefined && { metadata }),
      ...(resource !== undefined && { resource }),
      ...(scope !== null && { scope }),
    });
  });
}

type Common = {
  metadata?: NonNullable<Issuer['metadata']>;
  clientInformation: Client;
  resource?: string;
  fetchFn: OAuthExchange['fetch'];
};

async function ask(
  context: OAuthContext,
  { issuer, client }: { issuer: Issuer; client: Client },
  scope: string | null,
  refreshToken: string | null,
  send: (common: Common, exchange: OAuthExchange) => Promise<OAuthTokens>,
): Promise<Tokens> {
  const { host } = new URL(tokenEndpoint(issuer));
  return await createOAuthExchange(context, `requesting tokens for ${context.server.name} from ${host}`, async (exchange) => {
    const common: Common = {
      clientInformation: await withSecret(context, client, issuer, exchange),
      fetchFn: exchange.fetch,
      ...(issuer.metadata !== null && { metadata: issuer.metadata }),
      // RFC 8707. Servers before 2025-06-18 have no resource metadata, and their issuers do not support this parameter.
      ...(issuer.resource !== null && { resource: issuer.resource.id }),
    };
    const given = await send(common, exchange);
    return toTokens(given, { issuer, client, scope, refreshToken, now: context.clock.now() });
  });
}

type Asked = { issuer: Issuer; client: Client; scope: string | null; refreshToken: string | null; now: number };

/** A token is sent in a header, so one that is not valid there is rejected (RFC 6750 §2.1). */
function toTokens(given: OAuthTokens, { issuer, client, scope, refreshToken, now }: Asked): Tokens {
  const { access_token: accessToken, token_type: type, expires_in: seconds } = given;
  const refresh = given.refresh_token ?? refreshToken;
  if (type.toLowerCase() !== 'bearer') throw unusable('is not a bearer token');
  if (!isToken(accessToken) || (refresh !== null && refresh.length > limits.maxTokenLength)) throw unusable('is not valid in a header');
  const isTimed = seconds !== undefined && Number.isFinite(seconds) && seconds >= 0;
  return {
    accessToken,
    refreshToken: refresh,
    // Default: the requested scope (RFC 6749 §5.1).
    scope: (given.scope ?? scope)?.slice(0, limits.maxUrlLength) ?? null,
    obtainedAt: now,
    expiresAt: isTimed ? now + Math.min(seconds, maxLifetimeSeconds) * 1000 : null,
    client,
    issuer,
  };
}

const maxLifetimeSeconds = 10 * 366 * 24 * 60 * 60;

function isToken(text: string): boolean {
  return text.length <= limits.maxTokenLength && /^[\x21-\x7e]+$/.test(text);
}

function unusable(why: string): Problem {
  return new Problem('upstream_error', `The token from the authorization server ${why}.`, { retryable: false });
}

/** The SDK's provider interface for a client without a user: only the first two members are used. */
function providerOf(client: Client): OAuthClientProvider {
  const never = (): never => {
    throw new Error('client_credentials has no user sign-in');
  };
  return {
    clientInformation: () => client,
    prepareTokenRequest: (scope) => new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }),
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [] },
    tokens: () => undefined,
    saveTokens: never,
    redirectToAuthorization: never,
    saveCodeVerifier: never,
    codeVerifier: never,
  };
}
