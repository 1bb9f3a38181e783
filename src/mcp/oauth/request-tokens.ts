/** The three ways in which tokens are got, each one exchange: by a code, by a refresh token, and by being the client. */
import {
  exchangeAuthorization,
  fetchToken,
  refreshAuthorization,
  type OAuthClientProvider,
  type OAuthTokens,
} from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { withSecret } from './client.ts';
import type { OAuthContext } from './context.ts';
import { tokenEndpoint } from './discover.ts';
import { exchangeWith, type Exchange } from './exchange.ts';
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
  fetchFn: Exchange['fetch'];
};

async function ask(
  context: OAuthContext,
  { issuer, client }: { issuer: Issuer; client: Client },
  scope: string | null,
  refreshToken: string | null,
  send: (common: Common, exchange: Exchange) => Promise<OAuthTokens>,
): Promise<Tokens> {
  const { host } = new URL(tokenEndpoint(issuer));
  return await exchangeWith(context, `getting tokens for ${context.server.name} from ${host}`, async (exchange) => {
    const common: Common = {
      clientInformation: await withSecret(context, client, issuer, exchange),
      fetchFn: exchange.fetch,
      ...(issuer.metadata !== null && { metadata: issuer.metadata }),
      // RFC 8707; servers of before 2025-06-18 have no metadata that names one, and their issuers know of none.
      ...(issuer.resource !== null && { resource: issuer.resource.id }),
    };
    const given = await send(common, exchange);
    return toTokens(given, { issuer, client, scope, refreshToken, now: context.clock.now() });
  });
}

type Asked = { issuer: Issuer; client: Client; scope: string | null; refreshToken: string | null; now: number };

/** A token becomes a header of each request: one that could not be is none (RFC 6750 §2.1). */
function toTokens(given: OAuthTokens, { issuer, client, scope, refreshToken, now }: Asked): Tokens {
  const { access_token: accessToken, token_type: type, expires_in: seconds } = given;
  const refresh = given.refresh_token ?? refreshToken;
  if (type.toLowerCase() !== 'bearer') throw unusable('is no bearer token');
  if (!isToken(accessToken) || (refresh !== null && refresh.length > limits.maxTokenLength)) throw unusable('cannot stand in a header');
  const isTimed = seconds !== undefined && Number.isFinite(seconds) && seconds >= 0;
  return {
    accessToken,
    refreshToken: refresh,
    // Not told: as it was asked for (RFC 6749 §5.1).
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
  return new Problem('upstream_error', `The token that the authorization server gave ${why}.`, { retryable: false });
}

/** What the SDK wants to be told of a client that needs nobody: only the two first are asked. */
function providerOf(client: Client): OAuthClientProvider {
  const never = (): never => {
    throw new Error('nobody signs in with client_credentials');
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
