/**
 * The authorization server for MCP clients, as the routes use it: registers clients, and checks authorization requests. Grants and tokens
 * are in the Catalog of their workspace (`catalog/grants/`). The library is loaded on demand.
 */
import type { OAuthClient } from '../../core/people/grant.ts';
import { limits } from '../../core/limits/limits.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { Clock } from '../../ports/runtime.ts';
import { AuthorizationRefused, type AuthorizationRequest, type JsonSeal } from './checked-request.ts';
import type { createClientReader } from './read-client-metadata.ts';

type Deps = {
  outbound: OutboundHttp;
  clock: Clock;
  ids: JsonSeal;
  /** As in `Settings`. */
  redirectSchemes: readonly string[];
};

export function createAuthorization({ outbound, clock, ids, redirectSchemes }: Deps) {
  const allowed = async () => (await import('../../core/people/redirect-uri.ts')).readRedirectSchemes(redirectSchemes).schemes;
  /** One for all requests: it has the cache. */
  let readClient: ReturnType<typeof createClientReader> | null = null;
  const client = async (id: string): Promise<OAuthClient> => {
    const { readRegisteredClient, readMetadataDocument } = await import('./clients.ts');
    const registered = await readRegisteredClient(ids, id);
    if (registered !== null) return registered;
    const metadata = await import('./read-client-metadata.ts');
    const check = async (url: string, document: unknown) => readMetadataDocument(await allowed(), url, document);
    readClient ??= metadata.createClientReader({ outbound, clock, check });
    return await readClient(id);
  };
  return {
    /** Throws `invalid_request` with the reason if there is no such client. */
    client,
    /** Returns the response of RFC 7591. `body`: JSON. */
    register: async (body: string): Promise<Response> =>
      await (await import('./clients.ts')).registerClient({ ids, schemes: await allowed() }, body),
    /** Throws `AuthorizationRefused`. `query`: of the request to the authorization endpoint. */
    async request(issuer: string, query: URLSearchParams): Promise<AuthorizationRequest> {
      const repeated = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
      if (repeated !== undefined) throw new AuthorizationRefused(`The parameter ${JSON.stringify(repeated)} is repeated.`, null);
      if (query.toString().length > limits.maxUrlLength) throw new AuthorizationRefused('The request is too long.', null);
      const found = await client(query.get('client_id') ?? '');
      return await (await import('./authorization-request.ts')).readRequest({ issuer, client: found, schemes: await allowed() }, query);
    },
    /** The URL that reports to the client that the user has declined. */
    declined: async (request: AuthorizationRequest): Promise<string> => (await import('./authorization-request.ts')).declinedUrl(request),
  };
}

export type Authorization = ReturnType<typeof createAuthorization>;
