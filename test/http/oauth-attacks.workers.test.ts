/** What an attacker tries at the authorization server: forged, replayed and redirected requests. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Bindings } from '../../src/storage/bindings.ts';
import {
  authorizeQuery,
  callback,
  connect,
  consent,
  consentIn,
  createService,
  listTools,
  post,
  publicUrl,
  redeemCode,
  refresh,
  register,
  rootKey,
  signIn,
  verifier,
} from './oauth-client.ts';
import { takeErrors } from '../service-errors.ts';

const admin = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
/** What the outbound client finds under a URL. */
const documents = new Map<string, Response>();
const asked: string[] = [];
const network = {
  async fetch(request: Request): Promise<Response> {
    asked.push(request.url);
    return documents.get(request.url)?.clone() ?? new Response('none', { status: 404 });
  },
} as unknown as NonNullable<Bindings['PUBLIC_NETWORK']>;
const service = createService({ PUBLIC_NETWORK: network });

beforeAll(async () => {
  for (const name of ['demo', 'other'])
    await service(`/v1/toolsets/${name}`, {
      method: 'PUT',
      headers: admin,
      body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }),
    });
});

const errorOf = async (response: Response) => ((await response.json()) as { error: string }).error;

describe('redirect URIs', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScript:alert(1)',
    'data:text/html,x',
    'http://client.example.com/callback',
    'https://user@client.example.com/callback',
    'https://client.example.com/callback#fragment',
    '/callback',
    'com.example.app:/callback',
  ])('cannot be registered alone: %s', async (uri) => {
    const body = JSON.stringify({ redirect_uris: [uri], token_endpoint_auth_method: 'none' });
    const response = await service('/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_redirect_uri']);
  });

  it.each([
    'https://client.example.com/callback/',
    'https://client.example.com/callback/../evil',
    'https://client.example.com/callback?next=https://evil.example',
    'https://client.example.com.evil.example/callback',
    'https://CLIENT.example.com/callback',
    'https://client.example.com@evil.example/callback',
    'https://client.example.com:444/callback',
    'http://client.example.com/callback',
    'https://*.example.com/callback',
    '',
  ])('must be exactly a registered one: %s', async (uri) => {
    const { client_id: client } = await register(service);
    const path = `/oauth/authorize?${await authorizeQuery(client, { redirect_uri: uri })}`;
    const response = await service(path, { headers: { cookie: await signIn(service) } });
    expect(response.status).toBe(422);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.text()).not.toContain('href="http');
  });

  it('on a loopback address may have any port, and nothing else', async () => {
    const { client_id: client } = await register(service, { redirect_uris: ['http://127.0.0.1/callback'] });
    const cookie = await signIn(service);
    const open = async (uri: string) =>
      (await service(`/oauth/authorize?${await authorizeQuery(client, { redirect_uri: uri })}`, { headers: { cookie } })).status;
    expect(await open('http://127.0.0.1:49152/callback')).toBe(200);
    expect(await open('http://127.0.0.1:49152/other')).toBe(422);
    expect(await open('http://localhost:49152/callback')).toBe(422);
    expect(await open('http://127.0.0.1.evil.example:49152/callback')).toBe(422);
  });

  it('are not followed for an invalid request: the user decides', async () => {
    const { client_id: client } = await register(service);
    const path = `/oauth/authorize?${await authorizeQuery(client, { code_challenge: null, code_challenge_method: null })}`;
    const response = await service(path, { headers: { cookie: await signIn(service) } });
    expect(response.status).toBe(422);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.text()).toContain('Return to client.example.com');
  });
});

describe('authorization requests', () => {
  it.each([
    ['without PKCE', { code_challenge: null, code_challenge_method: null }],
    ['with plain PKCE', { code_challenge_method: 'plain' }],
    ['of the implicit flow', { response_type: 'token' }],
    ['with an empty resource', { resource: '' }],
    ['for another service', { resource: 'https://evil.example/mcp/demo' }],
    ['for another path', { resource: `${publicUrl}/v1/keys` }],
    ['for a path with dot segments', { resource: `${publicUrl}/mcp/x/../demo` }],
    ['for a resource with userinfo', { resource: 'https://a@moniker.example.com/mcp/demo' }],
    ['for a toolset that does not exist', { resource: `${publicUrl}/mcp/nowhere` }],
    ['of a forged client', { client_id: 'mcp-e30.AAAA' }],
    ['of no client', { client_id: '' }],
  ])('are refused %s', async (_what, changes) => {
    const { client_id: client } = await register(service);
    const response = await service(`/oauth/authorize?${await authorizeQuery(client, changes)}`, {
      headers: { cookie: await signIn(service) },
    });
    expect([404, 422]).toContain(response.status);
    expect(response.headers.get('location')).toBeNull();
  });

  it('are refused with a repeated parameter', async () => {
    const { client_id: client } = await register(service);
    const query = `${await authorizeQuery(client)}&redirect_uri=${encodeURIComponent('https://evil.example/')}`;
    const response = await service(`/oauth/authorize?${query}`, { headers: { cookie: await signIn(service) } });
    expect(response.status).toBe(422);
  });

  it('are never shown in a frame, and their texts are not markup', async () => {
    const { client_id: client } = await register(service, { client_name: '<img src=x onerror=alert(1)>\u202egnp' });
    const response = await service(`/oauth/authorize?${await authorizeQuery(client)}`, { headers: { cookie: await signIn(service) } });
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' https:;");
    const page = await response.text();
    expect(page).not.toContain('<img');
    expect(page).toContain('U+202E');
    expect(page).not.toContain('\u202e');
  });

  it.each([
    ['http://[::1]:9000/callback', "'self' http: https:"],
    ['https://a;sandbox.example/callback', "'self' https:"],
  ])('have a policy that allows the redirect to %s and nothing else changes', async (uri, sources) => {
    const { client_id: client } = await register(service, { redirect_uris: [uri] });
    const path = `/oauth/authorize?${await authorizeQuery(client, { redirect_uri: uri })}`;
    const response = await service(path, { headers: { cookie: await signIn(service) } });
    expect(response.headers.get('content-security-policy')).toContain(`form-action ${sources}; frame-ancestors 'none'`);
  });

  it('of a client with a blank name say that it has none', async () => {
    const { client_id: client } = await register(service, { client_name: ' ' });
    const response = await service(`/oauth/authorize?${await authorizeQuery(client)}`, { headers: { cookie: await signIn(service) } });
    expect(await response.text()).toContain('Allow A client without a name to use');
  });
});

describe('the consent', () => {
  const form = (fields: Record<string, string>, headers: Record<string, string>) => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  });

  it('cannot be given by a page of another site, without the page, for another request, or by another sign-in', async () => {
    const { client_id: client } = await register(service);
    const { client_id: evil } = await register(service, { client_name: 'Evil', redirect_uris: ['https://evil.example/'] });
    const [cookie, another] = [await signIn(service), await signIn(service)];
    const path = `/oauth/authorize?${await authorizeQuery(client)}`;
    const value = consentIn(await (await service(path, { headers: { cookie } })).text());
    const own = { cookie, 'sec-fetch-site': 'same-origin' };
    const tries = {
      'another site': await service(path, form({ decision: 'allow', consent: value }, { cookie, 'sec-fetch-site': 'cross-site' })),
      'no headers of a browser': await service(path, form({ decision: 'allow', consent: value }, { cookie })),
      'no page': await service(path, form({ decision: 'allow' }, own)),
      'a forged page': await service(path, form({ decision: 'allow', consent: `${value.slice(0, -1)}x` }, own)),
      'another request': await service(
        `/oauth/authorize?${await authorizeQuery(evil, { redirect_uri: 'https://evil.example/' })}`,
        form({ decision: 'allow', consent: value }, own),
      ),
      'another sign-in': await service(path, form({ decision: 'allow', consent: value }, { ...own, cookie: another })),
    };
    for (const [what, response] of Object.entries(tries)) {
      expect(response.status, what).toBe(403);
      expect(response.headers.get('location'), what).toBeNull();
    }
    const signedOut = await service(path, form({ decision: 'allow', consent: value }, { 'sec-fetch-site': 'same-origin' }));
    expect(signedOut.headers.get('location')).toMatch(/^\/sign-in\?to=/);
  });

  it('is asked for each client, also one that was allowed before', async () => {
    const { cookie } = await connect(service);
    const { client_id: client } = await register(service);
    const response = await service(`/oauth/authorize?${await authorizeQuery(client)}`, { headers: { cookie } });
    expect([response.status, response.headers.get('location')]).toEqual([200, null]);
  });
});

describe('codes', () => {
  it('work once: using one again ends its tokens', async () => {
    const { client, code, tokens } = await connect(service);
    const again = await redeemCode(service, client, code);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await listTools(service, tokens.access_token ?? '')).status).toBe(401);
    expect((await refresh(service, client, tokens.refresh_token ?? '')).status).toBe(400);
  });

  it('work once among 20 requests at the same time', async () => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client));
    const code = returned.get('code') ?? '';
    const answers = await Promise.all(Array.from({ length: 20 }, () => redeemCode(service, client, code)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  });

  it.each([
    ['another verifier', { code_verifier: `${verifier}x` }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect URI', { redirect_uri: 'https://evil.example/' }],
    ['another resource', { resource: `${publicUrl}/mcp/other` }],
    ['another grant type', { grant_type: 'client_credentials' }],
  ])('are refused with %s', async (_what, changes) => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client));
    const { status, body } = await redeemCode(service, client, returned.get('code') ?? '', changes);
    expect(status).toBe(400);
    expect(body.access_token).toBeUndefined();
  });

  it('are refused from another client, and as another kind of token', async () => {
    const { client_id: client } = await register(service);
    const { client_id: evil } = await register(service, { client_name: 'Evil' });
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client));
    const code = returned.get('code') ?? '';
    expect((await redeemCode(service, evil, code)).body.error).toBe('invalid_grant');
    expect((await refresh(service, client, code.replace(/^mc_/, 'mr_'))).body.error).toBe('invalid_grant');
    expect((await listTools(service, code.replace(/^mc_/, 'mt_'))).status).toBe(401);
    // The code is still valid for its own client.
    expect((await redeemCode(service, client, code)).status).toBe(200);
  });

  it('are refused as the library writes them, without the signature', async () => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client));
    const [head = '', grant, secret] = (returned.get('code') ?? '').split('.');
    const inner = `${head.split('_').at(-1)}:${grant}:${secret}`;
    expect((await redeemCode(service, client, inner)).body.error).toBe('invalid_grant');
  });
});

describe('tokens', () => {
  it('are valid at their own endpoint only', async () => {
    const { tokens } = await connect(service);
    const token = tokens.access_token ?? '';
    expect((await listTools(service, token)).status).toBe(200);
    for (const path of ['/mcp/other', '/mcp', '/mcp/default/demo', '/mcp/demo@1']) {
      const response = await listTools(service, token, path);
      expect([path, response.status]).toEqual([path, 401]);
    }
    for (const path of ['/v1/me', '/v1/toolsets', '/v1/grants', '/v1/models']) {
      const response = await service(path, { headers: { authorization: `Bearer ${token}` } });
      expect([path, response.status]).toEqual([path, 401]);
    }
    const asKey = await service('/v1/models', { headers: { 'x-api-key': token } });
    expect(asKey.status).toBe(401);
    // Otherwise the client could connect its own account at a server, for the calls of the user.
    const body = new URLSearchParams({ key: token }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    expect((await service('/connect/crm', { method: 'POST', headers, body })).status).toBe(401);
  });

  it('of a service under another URL are refused', async () => {
    const { tokens } = await connect(service);
    const moved = createService({ MONIKER_PUBLIC_URL: 'https://other.example.com' });
    expect((await listTools(moved, tokens.access_token ?? '')).status).toBe(401);
  });

  it('that are forged or cut off are refused without a request to storage', async () => {
    const { tokens } = await connect(service);
    const token = tokens.access_token ?? '';
    const blind = createService({
      CATALOG: {
        idFromName: () => {
          throw new Error('asked');
        },
      } as unknown as Bindings['CATALOG'],
    });
    for (const forged of [
      `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      token.slice(0, -3),
      token.replace('_default_', '_other_'),
    ]) {
      const response = await listTools(blind, forged);
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain('resource_metadata=');
    }
    const used = await post(blind, '/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: 'https://evil.example/x',
    });
    expect(used.status).toBe(400);
  });

  it('end with the refresh token: an old one that is used again ends the grant', async () => {
    const { client, tokens } = await connect(service);
    const first = tokens.refresh_token ?? '';
    const second = (await refresh(service, client, first)).body.refresh_token ?? '';
    const third = await refresh(service, client, second);
    expect(third.status).toBe(200);
    const stolen = await refresh(service, client, first);
    expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(service, client, third.body.refresh_token ?? '')).status).toBe(400);
    expect((await listTools(service, third.body.access_token ?? '')).status).toBe(401);
  });

  it('survive a lost response: the previous refresh token works until its replacement is used', async () => {
    const { client, tokens } = await connect(service);
    const lost = await refresh(service, client, tokens.refresh_token ?? '');
    expect(lost.status).toBe(200);
    expect((await refresh(service, client, tokens.refresh_token ?? '')).status).toBe(200);
  });

  it('cannot be refreshed for another resource or more scopes', async () => {
    const { client, tokens } = await connect(service);
    const other = await refresh(service, client, tokens.refresh_token ?? '', { resource: `${publicUrl}/mcp/other` });
    expect([other.status, other.body.error]).toEqual([400, 'invalid_target']);
    const more = await refresh(service, client, tokens.refresh_token ?? '', { scope: 'tools toolsets' });
    expect(more.body.scope).toBe('tools');
  });

  it('are revoked by their client only', async () => {
    const { client, tokens } = await connect(service);
    const { client_id: evil } = await register(service, { client_name: 'Evil' });
    const token = tokens.refresh_token ?? '';
    expect((await post(service, '/oauth/revoke', { token, client_id: evil })).status).toBe(200);
    expect((await listTools(service, tokens.access_token ?? '')).status).toBe(200);
    expect((await post(service, '/oauth/revoke', { token, client_id: client })).status).toBe(200);
    expect((await listTools(service, tokens.access_token ?? '')).status).toBe(401);
  });

  it('end with their grant', async () => {
    const { tokens } = await connect(service);
    const { items } = (await (await service('/v1/grants', { headers: admin })).json()) as { items: { id: string; resource: string }[] };
    expect(items[0]).toMatchObject({
      resource: `${publicUrl}/mcp/demo`,
      client: { name: 'Test client', redirectHost: 'client.example.com' },
    });
    const ended = await service(`/v1/grants/${items[0]?.id}`, { method: 'DELETE', headers: admin });
    expect(ended.status).toBe(204);
    expect((await listTools(service, tokens.access_token ?? '')).status).toBe(401);
    expect((await service(`/v1/grants/${items[0]?.id}`, { method: 'DELETE', headers: admin })).status).toBe(404);
  });

  it('have the scopes that were granted: 403 names what is missing', async () => {
    const { tokens } = await connect(service, { scope: 'admin tools everything' });
    expect(tokens.scope).toBe('tools');
  });
});

describe('clients', () => {
  it('with a secret must prove it', async () => {
    const client = await register(service, { token_endpoint_auth_method: 'client_secret_post' });
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client.client_id));
    const code = returned.get('code') ?? '';
    expect((await redeemCode(service, client.client_id, code)).status).toBe(401);
    expect((await redeemCode(service, client.client_id, code, { client_secret: 'wrong' })).status).toBe(401);
    expect((await redeemCode(service, client.client_id, code, { client_secret: String(client.client_secret) })).status).toBe(200);
  });

  it('are not stored: a thousand registrations leave nothing, and too large ones are refused', async () => {
    const many = Array.from({ length: 21 }, (_, index) => `https://client.example.com/${index}`);
    for (const metadata of [
      { redirect_uris: many },
      { client_name: 'n'.repeat(201) },
      { redirect_uris: [`${callback}?${'q'.repeat(3_000)}`] },
    ])
      expect((await register(service, metadata)).error).toBe('invalid_client_metadata');
    const huge = await service('/oauth/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: 'x'.repeat(20_000),
    });
    expect([huge.status, await errorOf(huge)]).toEqual([413, 'invalid_request']);
  });

  const document = (url: string, more: object = {}) => ({ client_id: url, client_name: 'Published', redirect_uris: [callback], ...more });
  const url = 'https://app.example.com/client.json';

  it('with the URL of a document as their id connect, and the page names its host', async () => {
    documents.set(url, Response.json(document(url)));
    const { page, returned } = await consent(service, await signIn(service), await authorizeQuery(url));
    expect(page).toContain('published by <strong>app.example.com</strong>');
    expect((await redeemCode(service, url, returned.get('code') ?? '')).status).toBe(200);
    expect(asked.filter((one) => one === url).length).toBe(1);
  });

  it.each([
    ['of another client', () => Response.json(document('https://app.example.com/other.json'))],
    ['with a redirect to a script', (id: string) => Response.json(document(id, { redirect_uris: ['javascript:alert(1)'] }))],
    ['that requires a key', (id: string) => Response.json(document(id, { token_endpoint_auth_method: 'private_key_jwt' }))],
    ['with a secret', (id: string) => Response.json(document(id, { client_secret: 's' }))],
    ['that is huge', (id: string) => Response.json(document(id, { client_name: 'n'.repeat(40_000) }))],
    ['that is no JSON', () => new Response('<html>')],
    ['that redirects', () => new Response(null, { status: 302, headers: { location: url } })],
    ['that is missing', () => new Response('', { status: 404 })],
  ])('are refused with a document %s', async (what, answer) => {
    const id = `https://app.example.com/${encodeURIComponent(what)}`;
    documents.set(id, answer(id));
    const response = await service(`/oauth/authorize?${await authorizeQuery(id)}`, { headers: { cookie: await signIn(service) } });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('location')).toBeNull();
  });

  it.each([
    'http://app.example.com/client.json',
    'https://127.0.0.1/client.json',
    'https://localhost/client.json',
    'https://169.254.169.254/latest',
    'https://[::1]/client.json',
    'https://10.0.0.1/client.json',
    'https://user:pass@app.example.com/client.json',
    'https://app.example.com/',
    'https://app.example.com/a/../client.json',
    'https://app.example.com/client.json#x',
    `${publicUrl}/oauth/client.json`,
  ])('cannot make the service read %s', async (id) => {
    const before = asked.length;
    const response = await service(`/oauth/authorize?${await authorizeQuery(id)}`, { headers: { cookie: await signIn(service) } });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(asked.length).toBe(before);
  });

  it('cannot make the service read anything before someone has signed in', async () => {
    const id = 'https://app.example.com/unasked.json';
    const before = asked.length;
    await service(`/oauth/authorize?${await authorizeQuery(id)}`);
    await redeemCode(service, id, 'mc_default_root.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAA');
    expect(asked.length).toBe(before);
  });
});

it('without a public URL nothing leads to a sign-in, and keys work as before', async () => {
  const bare = createService({ MONIKER_PUBLIC_URL: '' });
  const refused = await listTools(bare, 'wrong');
  expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="moniker", error="invalid_token"');
  expect((await bare('/.well-known/oauth-authorization-server')).status).toBe(503);
  expect(takeErrors()).toMatchObject([{ message: 'request failed', code: 'not_configured' }]);
  expect((await listTools(bare, rootKey)).status).toBe(200);
});
