/** MCP clients that receive their code under a private-use URI scheme (RFC 8252 section 7.1), over the HTTP surface. */
import { beforeAll, describe, expect, it } from 'vitest';
import { registrations } from './oauth-registrations.ts';
import {
  authorizeQuery,
  consent,
  createService,
  type Fetch,
  listTools,
  publicUrl,
  redeemCode,
  register,
  rootKey,
  signIn,
} from './oauth-client.ts';

const admin = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
const service = createService();
const cursor = 'cursor://anysphere.cursor-mcp/oauth/callback';
const setting = 'MONIKER_OAUTH_REDIRECT_SCHEMES';

beforeAll(async () => {
  const toolset = { method: 'PUT', headers: admin, body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }) };
  expect((await service('/v1/toolsets/demo', toolset)).status).toBe(201);
});

async function open(client: string, changes: Record<string, string | null>, at: Fetch = service): Promise<Response> {
  return await at(`/oauth/authorize?${await authorizeQuery(client, changes)}`, { headers: { cookie: await signIn(at) } });
}

const clients = Object.entries(registrations).map(([name, registration]) => ({ name, ...registration }));

describe.each(clients)('$name', ({ metadata, redirects }) => {
  it.each(redirects)('registers, is allowed, and lists tools with a token sent to %s', async (redirect) => {
    const client = await register(service, metadata);
    expect(client.redirect_uris).toEqual(metadata.redirect_uris);
    const { response, returned, page } = await consent(
      service,
      await signIn(service),
      await authorizeQuery(client.client_id, { redirect_uri: redirect }),
    );
    expect(page).toContain(metadata.client_name);
    expect(response.status).toBe(303);
    const location = response.headers.get('location') ?? '';
    expect(location.startsWith(`${redirect}${redirect.includes('?') ? '&' : '?'}code=`), location).toBe(true);
    expect(returned.get('iss')).toBe(publicUrl);
    const secret: Record<string, string> = typeof client.client_secret === 'string' ? { client_secret: client.client_secret } : {};
    const { body, status } = await redeemCode(service, client.client_id, returned.get('code') ?? '', { redirect_uri: redirect, ...secret });
    expect(status, JSON.stringify(body)).toBe(200);
    expect((await listTools(service, body.access_token ?? '')).status).toBe(200);
  });
});

describe('a redirect to a private-use scheme', () => {
  it('is shown with its scheme and the warning that any program can claim it, and is the only other target of the form', async () => {
    const { client_id: client } = await register(service, registrations.Cursor.metadata);
    const response = await open(client, { redirect_uri: cursor });
    const page = await response.text();
    expect(page).toContain('the program that opens <code>cursor:</code> links');
    expect(page).toContain(cursor);
    expect(page).toContain('Any program on your device can open <code>cursor:</code> links');
    expect(response.headers.get('content-security-policy')).toContain("form-action 'self' cursor:; frame-ancestors 'none'");
  });

  it('names the scheme in the list of connected clients', async () => {
    const { client_id: client } = await register(service, registrations.Cursor.metadata);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client, { redirect_uri: cursor }));
    await redeemCode(service, client, returned.get('code') ?? '', { redirect_uri: cursor });
    const { items } = (await (await service('/v1/grants', { headers: admin })).json()) as { items: { client: object }[] };
    expect(items[0]?.client).toEqual({ id: client, name: 'Cursor', redirectScheme: 'cursor', redirectHost: 'anysphere.cursor-mcp' });
  });

  it('requires PKCE with S256', async () => {
    const { client_id: client } = await register(service, registrations.Cursor.metadata);
    const without: Record<string, string | null>[] = [
      { code_challenge: null, code_challenge_method: null },
      { code_challenge_method: 'plain' },
    ];
    for (const changes of without) expect((await open(client, { redirect_uri: cursor, ...changes })).status).toBe(422);
  });

  it.each([
    `${cursor}/`,
    `${cursor}?x=1`,
    `${cursor}#x`,
    'Cursor://anysphere.cursor-mcp/oauth/callback',
    'cursor://ANYSPHERE.cursor-mcp/oauth/callback',
    'cursor://anysphere.cursor-mcp/oauth/%63allback',
    'cursor://anysphere.cursor-mcp:80/oauth/callback',
    'cursor://anysphere.cursor-mcp/oauth/../oauth/callback',
    'cursor://evil/oauth/callback',
    'cursor:/oauth/callback',
    'cursor:',
    'vscode://anysphere.cursor-mcp/oauth/callback',
    ' cursor://anysphere.cursor-mcp/oauth/callback',
  ])('must be exactly the registered one: %s', async (uri) => {
    const { client_id: client } = await register(service, registrations.Cursor.metadata);
    const response = await open(client, { redirect_uri: uri });
    expect(response.status).toBe(422);
    expect(response.headers.get('location')).toBeNull();
    expect(await response.text()).not.toContain('href="cursor');
  });

  it('on a loopback address may not have another port', async () => {
    const { client_id: client } = await register(service, { redirect_uris: ['cursor://127.0.0.1:1/callback'] });
    expect((await open(client, { redirect_uri: 'cursor://127.0.0.1:1/callback' })).status).toBe(200);
    expect((await open(client, { redirect_uri: 'cursor://127.0.0.1:2/callback' })).status).toBe(422);
  });

  it('makes a client without a stated method public, and is not for clients with a secret', async () => {
    const unstated = await register(service, { redirect_uris: [cursor], token_endpoint_auth_method: undefined });
    expect(unstated).toMatchObject({ redirect_uris: [cursor], token_endpoint_auth_method: 'none' });
    expect(unstated.client_secret).toBeUndefined();
    const secret = { token_endpoint_auth_method: 'client_secret_basic' };
    expect(await register(service, { redirect_uris: [cursor], ...secret })).toMatchObject({
      error: 'invalid_redirect_uri',
      error_description: expect.stringContaining('token_endpoint_auth_method "none"'),
    });
    const both = await register(service, { redirect_uris: [cursor, 'https://client.example.com/callback'], ...secret });
    expect(both.redirect_uris).toEqual(['https://client.example.com/callback']);
    expect((await open(both.client_id, { redirect_uri: cursor })).status).toBe(422);
  });
});

describe('the registration', () => {
  it.each([
    ['a scheme that is not allowed', 'unknown-app://callback', setting],
    ['a scheme that is not allowed, as a domain name', 'com.example.app:/callback', setting],
    ['http at another host', 'http://client.example.com/callback', 'https, or http on a loopback address'],
    ['a scheme without a path', 'cursor:callback', 'cursor:/'],
    ['a script', 'javascript:alert(1)', 'never allowed'],
    ['a local file', 'file:///etc/passwd', 'never allowed'],
    ['credentials', 'cursor://user:pass@host/callback', 'without user name'],
    ['a fragment', 'cursor://host/callback#x', 'fragment'],
    ['a space', 'cursor://host/a b', 'characters'],
    ['no scheme', '/callback', 'absolute'],
  ])('is refused with the reason if no code could ever be sent to it: %s', async (_what, uri, reason) => {
    const refused = await register(service, { redirect_uris: [uri] });
    expect(refused).toMatchObject({ error: 'invalid_redirect_uri', error_description: expect.stringContaining(reason) });
    expect(refused.error_description).toContain(JSON.stringify(uri));
  });

  it('contains the redirect URIs that can be used, and returns them, if others cannot', async () => {
    const usable = ['https://client.example.com/callback', cursor];
    const client = await register(service, { redirect_uris: ['unknown-app://callback', ...usable, 'http://client.example.com/'] });
    expect(client.redirect_uris).toEqual(usable);
    const refused = await open(client.client_id, { redirect_uri: 'unknown-app://callback' });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(setting);
  });

  it('is refused as a whole with one that is dangerous', async () => {
    const refused = await register(service, { redirect_uris: [cursor, 'javascript:alert(1)'] });
    expect(refused).toMatchObject({ error: 'invalid_redirect_uri' });
  });

  it('follows the setting of the operator, also for clients that registered before', async () => {
    const { client_id: client } = await register(service, registrations.Cursor.metadata);
    const narrow = createService({ MONIKER_OAUTH_REDIRECT_SCHEMES: 'my-app' });
    const refused = await open(client, { redirect_uri: cursor }, narrow);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain(setting);
    expect((await open(client, { redirect_uri: 'http://localhost:8787/callback' }, narrow)).status).toBe(200);
    const own = await register(narrow, { redirect_uris: ['my-app:/callback'] });
    expect((await open(own.client_id, { redirect_uri: 'my-app:/callback' }, narrow)).status).toBe(200);
    const none = createService({ MONIKER_OAUTH_REDIRECT_SCHEMES: 'none' });
    expect(await register(none, { redirect_uris: [cursor] })).toMatchObject({ error: 'invalid_redirect_uri' });
    const more = createService({ MONIKER_OAUTH_REDIRECT_SCHEMES: 'default, my-app' });
    expect((await open(client, { redirect_uri: cursor }, more)).status).toBe(200);
    expect((await open(own.client_id, { redirect_uri: 'my-app:/callback' }, more)).status).toBe(200);
  });

  it('never contains a dangerous scheme, even if the setting names it', async () => {
    const wide = createService({ MONIKER_OAUTH_REDIRECT_SCHEMES: 'javascript,file,data,intent,ms-settings,search-ms,ws,http' });
    for (const uri of ['javascript:/x', 'file:///x', 'data:/x', 'intent://x/', 'ms-settings:/x', 'search-ms:/x', 'ws://x/', 'http://x/'])
      expect(await register(wide, { redirect_uris: [uri] }), uri).toMatchObject({ error: 'invalid_redirect_uri' });
  });
});

describe('the resource of an authorization request', () => {
  it.each([
    ['with a slash at the end', `${publicUrl}/mcp/demo/`, '/mcp/demo'],
    ['that is the service', publicUrl, '/mcp'],
    ['that is the service with a slash', `${publicUrl}/`, '/mcp'],
  ])('%s names the endpoint without it, also in the token request', async (_what, resource, path) => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client, { resource }));
    const { status, body } = await redeemCode(service, client, returned.get('code') ?? '', { resource });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.resource).toBe(`${publicUrl}${path}`);
    expect((await listTools(service, body.access_token ?? '', path)).status).toBe(200);
  });

  it.each([`${publicUrl}//`, `${publicUrl}/mcp/demo//`, `${publicUrl}/?x`, `${publicUrl}/mcp/../`, `${publicUrl}/mcp/demo/?`])(
    'is refused otherwise: %s',
    async (resource) => {
      const { client_id: client } = await register(service);
      expect((await open(client, { resource })).status).toBe(422);
    },
  );
});
