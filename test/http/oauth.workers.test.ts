import { beforeAll, describe, expect, it } from 'vitest';
import { runInDurableObject } from 'cloudflare:test';
import type { CatalogContext } from '../../src/objects/catalog/context.ts';
import { dropExpiredRecords } from '../../src/objects/catalog/grants/oauth-records.ts';
import { objectName } from '../../src/storage/keys.ts';
import { testEnv } from '../storage/workspace.ts';
import { waitUntil } from '../wait-for.ts';
import { userIdOf } from '../../src/core/people/person.ts';
import {
  authorizeQuery,
  connect,
  consent,
  createService,
  createServiceOf,
  listTools,
  post,
  publicUrl,
  redeemCode,
  refresh,
  register,
  rootKey,
  sendMcp,
  signIn,
} from './oauth-client.ts';

const service = createService();
/** As if people signed in with it. */
const identityProvider = { MONIKER_GITHUB_CLIENT_ID: 'id', MONIKER_GITHUB_CLIENT_SECRET: 'secret' };
const admin = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };

beforeAll(async () => {
  for (const name of ['demo', 'other'])
    await service(`/v1/toolsets/${name}`, {
      method: 'PUT',
      headers: admin,
      body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }),
    });
});

describe('an MCP client that knows only the address', () => {
  it('finds the authorization server from the 401 of the endpoint', async () => {
    const refused = await listTools(service, 'wrong');
    expect(refused.status).toBe(401);
    const challenge = refused.headers.get('www-authenticate') ?? '';
    const url = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? '';
    expect(url).toBe(`${publicUrl}/.well-known/oauth-protected-resource/mcp/demo`);
    const resource = await (await service(url)).json();
    expect(resource).toMatchObject({ resource: `${publicUrl}/mcp/demo`, authorization_servers: [publicUrl], scopes_supported: ['tools'] });
    const metadata = await (await service('/.well-known/oauth-authorization-server')).json();
    expect(metadata).toMatchObject({
      issuer: publicUrl,
      code_challenge_methods_supported: ['S256'],
      token_endpoint: `${publicUrl}/oauth/token`,
    });
  });

  it('connects to the address for HTTP+SSE, and only to that one', async () => {
    const { tokens } = await connect(service, { resource: `${publicUrl}/sse/demo` });
    const headers = { authorization: `Bearer ${String(tokens.access_token)}`, accept: 'text/event-stream' };
    const opened = await service('/sse/demo', { headers });
    expect([opened.status, opened.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await opened.body?.cancel();
    expect((await service('/sse/other', { headers })).status).toBe(401);
  });

  it('connects: registration, sign-in, consent, tokens, a call', async () => {
    const { client_id: client } = await register(service);
    const query = await authorizeQuery(client);
    const toSignIn = await service(`/oauth/authorize?${query}`);
    expect(toSignIn.status).toBe(303);
    expect(toSignIn.headers.get('location')).toBe(`/sign-in?to=${encodeURIComponent(`/oauth/authorize?${query}`)}`);
    const { page, response, returned } = await consent(service, await signIn(service), query);
    expect(page).toContain('Test client');
    expect(page).toContain('client.example.com');
    expect(page).toContain('calculate');
    expect(response.status).toBe(303);
    expect(returned.get('state')).toBe('state-1');
    expect(returned.get('iss')).toBe(publicUrl);
    const { status, body } = await redeemCode(service, client, returned.get('code') ?? '');
    expect(body).toMatchObject({ token_type: 'bearer', scope: 'tools', resource: `${publicUrl}/mcp/demo`, expires_in: 3600 });
    expect(status).toBe(200);
    const listed = await listTools(service, body.access_token ?? '');
    expect(listed.status).toBe(200);
    expect(await listed.text()).toContain('calculate');
  });

  it('gets new tokens with its refresh token', async () => {
    const { client, tokens } = await connect(service);
    const next = await refresh(service, client, tokens.refresh_token ?? '');
    expect(next.status).toBe(200);
    expect((await listTools(service, next.body.access_token ?? '')).status).toBe(200);
    expect(next.body.refresh_token).not.toBe(tokens.refresh_token);
  });

  it('is told the scope that a configuration tool needs', async () => {
    const { tokens } = await connect(service, { resource: `${publicUrl}/mcp` });
    const params = { name: 'enter-configuration-mode', arguments: {} };
    const refused = await sendMcp(service, tokens.access_token ?? '', '/mcp', 'tools/call', params);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('scope="tools toolsets"')]);
    const others = await sendMcp(service, tokens.access_token ?? '', '/mcp', 'tools/call', { name: 'nothing', arguments: {} });
    expect(others.status).not.toBe(403);
  });

  it('returns to the client when the user declines', async () => {
    const { client_id: client } = await register(service);
    const { returned } = await consent(service, await signIn(service), await authorizeQuery(client), 'deny');
    expect(Object.fromEntries(returned)).toMatchObject({ error: 'access_denied', state: 'state-1', iss: publicUrl });
    expect(returned.get('code')).toBeNull();
  });
});

describe('a member', () => {
  const { service: here, people } = createServiceOf(identityProvider);
  const ada = { email: 'ada@example.com' };
  const member = (role: string) => ({ method: 'PUT', headers: admin, body: JSON.stringify({ ...ada, role }) });

  it('has the rights of the role, which take effect on tokens, and cannot see the grants of others', async () => {
    expect((await here('/v1/members/ada', member('editor'))).status).toBe(201);
    const user = { id: await userIdOf(ada.email), name: 'Ada', ...ada };
    const cookie = `__Host-moniker=${await people.begin({ user, provider: 'github' })}`;
    const { client_id: client } = await register(here);
    const { page, returned } = await consent(here, cookie, await authorizeQuery(client, { scope: 'tools toolsets' }));
    expect(page).toContain('ada@example.com');
    expect(page).toContain('Change toolsets');
    const { body: tokens } = await redeemCode(here, client, returned.get('code') ?? '');
    expect(tokens.scope).toBe('tools toolsets');
    expect((await listTools(here, tokens.access_token ?? '')).status).toBe(200);

    await connect(here);
    const own = { cookie, 'sec-fetch-site': 'same-origin' };
    const { items } = (await (await here('/v1/grants', { headers: own })).json()) as { items: { id: string; user: object }[] };
    expect(items.map(({ user: of }) => of)).toEqual(items.map(() => user));
    expect(items).toHaveLength(1);
    const all = (await (await here('/v1/grants', { headers: admin })).json()) as Listed;
    const foreign = all.items.find(({ user: of }) => of.id === 'root')?.id;
    expect((await here(`/v1/grants/${foreign}`, { method: 'DELETE', headers: own })).status).toBe(404);

    // Another isolate has no cached verdict; this one has it for 30 seconds at most.
    await here('/v1/members/ada', member('user'));
    const { client_id: another } = await register(here);
    const asUser = await consent(
      createServiceOf(identityProvider).service,
      cookie,
      await authorizeQuery(another, { scope: 'tools toolsets' }),
    );
    expect(asUser.page).not.toContain('Change toolsets');
    expect((await here('/v1/members/ada', { method: 'DELETE', headers: admin })).status).toBe(204);
    expect((await listTools(createService(), tokens.access_token ?? '')).status).toBe(401);
    expect((await refresh(createService(), client, tokens.refresh_token ?? '')).body.error).toBe('invalid_grant');
    const left = (await (await here('/v1/grants', { headers: admin })).json()) as Listed;
    expect(left.items.filter(({ user: of }) => of.id === user.id)).toEqual([]);
    const refused = await createService(identityProvider)(`/oauth/authorize?${await authorizeQuery(client)}`, { headers: { cookie } });
    expect(refused.status).toBe(403);
  });

  it('uses the limits of the workspace, in a browser and with an MCP client', async () => {
    const settings = (limits: object) => ({ method: 'PUT', headers: admin, body: JSON.stringify({ settings: { limits } }) });
    await here('/v1/workspaces/busy', settings({}));
    const inBusy = { ...admin, 'x-moniker-workspace': 'busy' };
    await here('/v1/toolsets/demo', { method: 'PUT', headers: inBusy, body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }) });
    await here('/v1/members/bea', {
      method: 'PUT',
      headers: inBusy,
      body: JSON.stringify({ email: 'bea@example.com', role: 'user' }),
    });
    const user = { id: await userIdOf('bea@example.com'), name: 'Bea', email: 'bea@example.com' };
    const cookie = `__Host-moniker=${await people.begin({ user, provider: 'github' })}`;
    await waitUntil(async () => (await people.workspaces(user)).length === 1);
    const { client_id: client } = await register(here);
    const resource = `${publicUrl}/mcp/busy/demo`;
    const { returned } = await consent(here, cookie, await authorizeQuery(client, { resource }));
    const { body: tokens } = await redeemCode(here, client, returned.get('code') ?? '', { resource });
    await here('/v1/workspaces/busy', settings({ requestsPerMinute: 4 }));

    // Another isolate has no cached verdict.
    const fresh = createService(identityProvider);
    const byPerson = () => fresh('/v1/toolsets', { headers: { cookie, 'sec-fetch-site': 'same-origin', 'x-moniker-workspace': 'busy' } });
    const byClient = () => listTools(fresh, tokens.access_token ?? '', '/mcp/busy/demo');
    const answers = await Promise.all([byPerson, byClient].flatMap((send) => Array.from({ length: 6 }, send)));
    const statuses = answers.map(({ status }) => status);
    // The minute may end meanwhile.
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(4);
    for (const { status, headers } of answers) if (status === 429) expect(headers.get('retry-after')).toMatch(/^\d+$/);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });
});
type Listed = { items: { id: string; user: { id: string } }[] };

it('a token without the scope of the configuration tools learns which one to ask for', async () => {
  const { tokens } = await connect(service, { resource: `${publicUrl}/mcp` });
  const call = await sendMcp(service, tokens.access_token ?? '', '/mcp', 'tools/call', { name: 'build-toolset', arguments: {} });
  expect(call.status).toBe(403);
  expect(call.headers.get('www-authenticate')).toBe(
    `Bearer realm="moniker", error="insufficient_scope", scope="tools toolsets", resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp"`,
  );
  const more = await connect(service, { resource: `${publicUrl}/mcp`, scope: 'tools toolsets' });
  const listed = await listTools(service, more.tokens.access_token ?? '', '/mcp');
  expect(await listed.text()).toContain('build-toolset');
});

it('a request without a resource is for /mcp', async () => {
  const { tokens } = await connect(service, { resource: null });
  expect(tokens.resource).toBeUndefined();
  const { client_id: client } = await register(service);
  const { page, returned } = await consent(service, await signIn(service), await authorizeQuery(client, { resource: null }));
  expect(page).toContain('the one that you equip');
  const { body } = await redeemCode(service, client, returned.get('code') ?? '', { resource: `${publicUrl}/mcp` });
  expect(body.resource).toBe(`${publicUrl}/mcp`);
  expect((await listTools(service, body.access_token ?? '')).status).toBe(401);
  expect((await listTools(service, body.access_token ?? '', '/mcp')).status).toBe(200);
});

it('a workspace in the path is that of the token', async () => {
  await service('/v1/workspaces/team', { method: 'PUT', headers: admin, body: '{}' });
  const inTeam = { ...admin, 'x-moniker-workspace': 'team' };
  await service('/v1/toolsets/demo', { method: 'PUT', headers: inTeam, body: JSON.stringify({ tools: [{ tool: 'local.current_time' }] }) });
  const { tokens } = await connect(service, { resource: `${publicUrl}/mcp/team/demo` });
  const listed = await listTools(service, tokens.access_token ?? '', '/mcp/team/demo');
  expect(await listed.text()).toContain('current_time');
  expect((await listTools(service, tokens.access_token ?? '')).status).toBe(401);
  const cookie = await signIn(service);
  const { client_id: client } = await register(service);
  const unknown = await service(`/oauth/authorize?${await authorizeQuery(client, { resource: `${publicUrl}/mcp/nowhere/demo` })}`, {
    headers: { cookie },
  });
  expect(unknown.status).toBe(404);
});

it('the tokens of a deleted workspace are refused, so that the client signs in again', async () => {
  await service('/v1/workspaces/gone', { method: 'PUT', headers: admin, body: '{}' });
  const inGone = { ...admin, 'x-moniker-workspace': 'gone' };
  await service('/v1/toolsets/demo', { method: 'PUT', headers: inGone, body: JSON.stringify({ tools: [{ tool: 'local.calculate' }] }) });
  const resource = `${publicUrl}/mcp/gone/demo`;
  const { client, tokens } = await connect(service, { resource });
  expect((await listTools(service, tokens.access_token ?? '', '/mcp/gone/demo')).status).toBe(200);
  await service('/v1/workspaces/gone', { method: 'DELETE', headers: admin });
  // Another isolate has no cached verdict.
  const fresh = createService(identityProvider);
  await waitUntil(async () => (await listTools(createService(), tokens.access_token ?? '', '/mcp/gone/demo')).status !== 200);
  const refused = await listTools(fresh, tokens.access_token ?? '', '/mcp/gone/demo');
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('resource_metadata=')]);
  const refreshed = await refresh(fresh, client, tokens.refresh_token ?? '');
  expect([refreshed.status, refreshed.body.error]).toEqual([400, 'invalid_grant']);
  expect((await post(fresh, '/oauth/revoke', { client_id: client, token: tokens.refresh_token ?? '' })).status).toBe(200);
});

it('the records of a client that refreshes often, and of expired tokens, are bounded', async () => {
  const { client, tokens } = await connect(service);
  let token = tokens.refresh_token ?? '';
  for (let round = 0; round < 14; round += 1) token = (await refresh(service, client, token)).body.refresh_token ?? '';
  const id = token.split('.')[1];
  const catalog = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName('default', 'catalog', '')));
  await runInDurableObject(catalog, (_instance, state) => {
    const count = (): number => {
      const query = 'SELECT count(*) AS count FROM oauth_records WHERE key LIKE ?';
      return state.storage.sql.exec<{ count: number }>(query, `token:root:${id}:%`).one().count;
    };
    expect(count()).toBe(10);
    const later = { sql: state.storage.sql, now: () => Date.now() + 2 * 60 * 60_000 } as unknown as CatalogContext;
    dropExpiredRecords(later, 1_000);
    expect(count()).toBe(0);
    const texts = state.storage.sql
      .exec<{ value: string }>('SELECT value FROM oauth_records')
      .toArray()
      .map(({ value }) => value)
      .join(' ');
    expect(texts).not.toContain(token.split('.')[2]);
  });
});
