/**
 * The OAuth library as Moniker uses it. It is made for one request with the resource of that request, since its list of resources is
 * fixed, and works on a store that is given to it. Only this file imports it, and it is loaded on demand.
 */
import { OAuthAuthorizationServer } from '@cloudflare/workers-oauth-provider';
import { GrantScope } from '../../core/people/grant.ts';

/** What the library uses of a KV namespace. */
export interface OAuthStore {
  get(key: string, options?: { type: 'json' }): Promise<unknown>;
  put(key: string, value: string, options?: { expiration?: number; expirationTtl?: number; metadata?: unknown }): Promise<void>;
  delete(key: string): Promise<void>;
  list(options: { prefix: string; limit?: number; cursor?: string }): Promise<StoredKeys>;
}

export type StoredKeys = { keys: { name: string; metadata?: unknown }[]; list_complete: boolean; cursor?: string };

export type OAuthEnv = { OAUTH_KV: OAuthStore };

/** A client that is stopped or offline gets new tokens for this long after its last refresh. */
const refreshTokenSeconds = 30 * 24 * 60 * 60;
const accessTokenSeconds = 60 * 60;

export function createAuthorizationServer(issuer: string, resource: string): OAuthAuthorizationServer<OAuthEnv> {
  return new OAuthAuthorizationServer<OAuthEnv>({
    issuer,
    resources: [resource],
    authorizeEndpoint: `${issuer}/oauth/authorize`,
    tokenEndpoint: `${issuer}/oauth/token`,
    clientRegistrationEndpoint: `${issuer}/oauth/register`,
    scopesSupported: [...GrantScope.options],
    accessTokenTTL: accessTokenSeconds,
    refreshTokenTTL: refreshTokenSeconds,
    refreshTokenIdleTTL: refreshTokenSeconds,
    // `core/people/redirect-uri.ts` decides which ones.
    allowPrivateUseRedirectUris: true,
    // Ids of clients contain their metadata, so there is nothing to delete.
    clientRegistrationTTL: undefined,
    onError: () => undefined,
  });
}

/** The library takes an execution context and does not use it for these requests. */
export const noContext = undefined as unknown as ExecutionContext;
