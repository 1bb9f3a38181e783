/**
 * A fake authorization server and the MCP server that it issues tokens for, by host: it validates requests as strictly as OAuth 2.1
 * requires (PKCE, redirect address, client authentication, resource, rotation of refresh tokens: reusing one ends the sign-in) and records
 * them. Runs in memory under any host, or on a port (`listenUpstream`).
 */
import { createHash } from 'node:crypto';

export type AuthorizationServerOptions = {
  /** Origin of the authorization server, and, with a path, of the server whose tokens it issues. */
  issuer: string;
  resource: string;
  scopesSupported?: string[];
  authMethods?: ('client_secret_basic' | 'client_secret_post' | 'none')[];
  /** Clients that are registered beforehand. */
  clients?: Record<string, { secret?: string; redirectUris?: string[] }>;
  /** Seconds; null: not sent. */
  expiresIn?: number | null;
  /** Members to add to, or remove from, the issuer's metadata. */
  metadata?: Record<string, unknown>;
  resourceMetadata?: Record<string, unknown>;
  /** Replaces the usual response, by path. */
  instead?: Record<string, (request: Request) => Response | Promise<Response>>;
  /** Where the issuer's metadata is found. */
  wellKnown?: 'oauth' | 'openid' | 'none';
  refreshTokens?: boolean;
};

type Client = { secret?: string; redirectUris?: string[]; method?: string };
type Code = { client: string; challenge: string; redirectUri: string; scope: string | null; resource: string | null };

export type FakeAuthorizationServer = ReturnType<typeof createAuthorizationServer>;

export function createAuthorizationServer(options: AuthorizationServerOptions) {
  const { issuer, resource } = options;
  const [issuerUrl, resourceUrl] = [new URL(issuer), new URL(resource)];
  const clients = new Map<string, Client>(Object.entries(options.clients ?? {}));
  const codes = new Map<string, Code>();
  /** Refresh tokens: valid, or used. */
  const refreshTokens = new Map<string, { client: string; scope: string | null; used: boolean; family: number }>();
  const accessTokens = new Map<string, { scope: string | null; family: number }>();
  const endedFamilies = new Set<number>();
  const seen: { path: string; host: string; form: URLSearchParams | null; authorization: string | null; body: string }[] = [];
  const registered: Record<string, unknown>[] = [];
  const revoked: string[] = [];
  let count = 0;
  const fresh = (prefix: string) => `${prefix}-${++count}-${'x'.repeat(24)}`;

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: options.authMethods ?? ['client_secret_basic', 'client_secret_post', 'none'],
    authorization_response_iss_parameter_supported: true,
    ...options.metadata,
  });

  const refuse = (error: string, description = '', status = 400) => Response.json({ error, error_description: description }, { status });

  function clientOf(form: URLSearchParams, authorization: string | null): string | Response {
    const basic = /^Basic (.+)$/.exec(authorization ?? '')?.[1];
    const [id, secret, method] =
      basic !== undefined
        ? [...(atob(basic).split(':') as [string, string]), 'client_secret_basic']
        : [form.get('client_id') ?? '', form.get('client_secret'), form.has('client_secret') ? 'client_secret_post' : 'none'];
    const client = clients.get(id);
    if (client === undefined) return refuse('invalid_client', 'unknown', 401);
    if (options.authMethods !== undefined && !(options.authMethods as string[]).includes(method as string)) {
      return refuse('invalid_client', `${method} is not taken`, 401);
    }
    if ((client.secret ?? null) !== (secret ?? null)) return refuse('invalid_client', `not the secret: ${secret}`, 401);
    return id;
  }

  function give(scope: string | null, client: string, family: number, withRefresh: boolean): Response {
    const access = fresh('access');
    accessTokens.set(access, { scope, family });
    const refresh = withRefresh ? fresh('refresh') : null;
    if (refresh !== null) refreshTokens.set(refresh, { client, scope, used: false, family });
    const expiresIn = options.expiresIn === undefined ? 3600 : options.expiresIn;
    return Response.json({
      access_token: access,
      token_type: 'Bearer',
      ...(expiresIn !== null && { expires_in: expiresIn }),
      ...(scope !== null && { scope }),
      ...(refresh !== null && { refresh_token: refresh }),
    });
  }

  function token(form: URLSearchParams, authorization: string | null): Response {
    const client = clientOf(form, authorization);
    if (client instanceof Response) return client;
    if (form.has('resource') && form.get('resource') !== resource) return refuse('invalid_target');
    switch (form.get('grant_type')) {
      case 'client_credentials':
        return give(form.get('scope'), client, ++count, false);
      case 'authorization_code': {
        const code = codes.get(form.get('code') ?? '');
        codes.delete(form.get('code') ?? '');
        if (code === undefined || code.client !== client) return refuse('invalid_grant', 'no such code');
        if (code.redirectUri !== form.get('redirect_uri')) return refuse('invalid_grant', 'another redirect address');
        const challenge = createHash('sha256')
          .update(form.get('code_verifier') ?? '')
          .digest('base64url');
        if (challenge !== code.challenge) return refuse('invalid_grant', 'the verifier is not of the challenge');
        if (code.resource !== form.get('resource')) return refuse('invalid_target');
        return give(code.scope, client, ++count, options.refreshTokens ?? true);
      }
      case 'refresh_token': {
        const known = refreshTokens.get(form.get('refresh_token') ?? '');
        if (known === undefined || known.client !== client || endedFamilies.has(known.family)) return refuse('invalid_grant');
        if (known.used) {
          endedFamilies.add(known.family);
          return refuse('invalid_grant', 'shown twice');
        }
        known.used = true;
        return give(known.scope, client, known.family, true);
      }
      default:
        return refuse('unsupported_grant_type');
    }
  }

  async function atIssuer(path: string, request: Request, body: string): Promise<Response> {
    const kind = options.wellKnown ?? 'oauth';
    const base = issuerUrl.pathname === '/' ? '' : issuerUrl.pathname;
    if (path === `/.well-known/oauth-authorization-server${base}` && kind === 'oauth') return Response.json(metadata());
    if (path === `${base}/.well-known/openid-configuration` && kind === 'openid') {
      return Response.json({
        jwks_uri: `${issuer}/jwks`,
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        ...metadata(),
      });
    }
    if (request.method !== 'POST') return new Response('no', { status: 404 });
    if (path === `${base}/register`) {
      const asked = JSON.parse(body);
      registered.push(asked);
      const id = fresh('client');
      const isPublic = asked.token_endpoint_auth_method === 'none';
      const client: Client = { redirectUris: asked.redirect_uris, ...(!isPublic && { secret: fresh('secret') }) };
      clients.set(id, client);
      return Response.json({ ...asked, client_id: id, ...(client.secret && { client_secret: client.secret }) }, { status: 201 });
    }
    const form = new URLSearchParams(body);
    if (path === `${base}/token`) return token(form, request.headers.get('authorization'));
    if (path === `${base}/revoke`) {
      const client = clientOf(form, request.headers.get('authorization'));
      if (client instanceof Response) return client;
      revoked.push(form.get('token') ?? '');
      return new Response(null, { status: 200 });
    }
    return new Response('no', { status: 404 });
  }

  return {
    issuer,
    resource,
    seen,
    registered,
    revoked,
    clients,
    accessTokens,
    refreshTokens,
    /** Requests to the token endpoint, by their grant. */
    grants: () => seen.flatMap(({ form }) => (form?.has('grant_type') ? [form.get('grant_type') as string] : [])),
    options,

    /** Returns null for any other host. */
    async answer(request: Request): Promise<Response | null> {
      const { host, pathname: path } = new URL(request.url);
      if (host !== issuerUrl.host && host !== resourceUrl.host) return null;
      const body = request.method === 'POST' ? await request.clone().text() : '';
      const isForm = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
      seen.push({ path, host, form: isForm ? new URLSearchParams(body) : null, authorization: request.headers.get('authorization'), body });
      const instead = options.instead?.[path];
      if (instead !== undefined) return await instead(request);
      if (path === `/.well-known/oauth-protected-resource${resourceUrl.pathname}` && host === resourceUrl.host) {
        return Response.json({
          resource,
          authorization_servers: [issuer],
          ...(options.scopesSupported && { scopes_supported: options.scopesSupported }),
          ...options.resourceMetadata,
        });
      }
      return host === issuerUrl.host ? await atIssuer(path, request, body) : new Response('no', { status: 404 });
    },

    /** Simulates a user who opens the address and approves: returns where the browser is redirected to. Throws for an invalid address. */
    approve(authorizationUrl: string): URL {
      const url = new URL(authorizationUrl);
      const ask = (name: string) => url.searchParams.get(name);
      const [id, redirectUri, challenge] = [ask('client_id') ?? '', ask('redirect_uri') ?? '', ask('code_challenge') ?? ''];
      const client = clients.get(id);
      if (`${url.origin}${url.pathname}` !== metadata().authorization_endpoint) throw new Error(`not where a person signs in: ${url}`);
      if (client === undefined) throw new Error(`no client ${id}`);
      if (client.redirectUris !== undefined && !client.redirectUris.includes(redirectUri))
        throw new Error(`not its redirect: ${redirectUri}`);
      if (ask('response_type') !== 'code' || ask('code_challenge_method') !== 'S256') throw new Error('no PKCE');
      const code = fresh('code');
      codes.set(code, { client: id, challenge, redirectUri, scope: ask('scope'), resource: ask('resource') });
      const back = new URL(redirectUri);
      back.searchParams.set('code', code);
      back.searchParams.set('state', ask('state') ?? '');
      if (metadata().authorization_response_iss_parameter_supported) back.searchParams.set('iss', metadata().issuer);
      return back;
    },

    /** Whether the server accepts this token. */
    takes(token: string | null): boolean {
      const known = token === null ? undefined : accessTokens.get(token);
      return known !== undefined && !endedFamilies.has(known.family);
    },
  };
}
