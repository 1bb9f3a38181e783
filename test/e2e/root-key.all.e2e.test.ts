/** Changing the root key ends everything that was made with the one before, over restarts of the service. */
import { createServer, type AddressInfo } from 'node:net';
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

const dataDir = makeDataDir();
const newKey = (): string => `root_${randomBytes(24).toString('hex')}`;
const [first, second] = [newKey(), newKey()];
let port = '';
let service: RunningService;

/** On one port, since tokens are valid at one URL. */
async function startWith(rootKey: string): Promise<void> {
  await service?.stop();
  service = await startService(dataDir, { MONIKER_ROOT_KEY: rootKey, PORT: port });
}

beforeAll(async () => {
  const probe = createServer();
  port = await new Promise((resolve) => {
    // A TCP server has a port.
    probe.listen(0, '127.0.0.1', () => resolve(String((probe.address() as AddressInfo).port)));
  });
  await new Promise((resolve) => probe.close(resolve));
  await startWith(first);
});
afterAll(async () => {
  await service?.stop();
  removeDataDir(dataDir);
});

const page = { authorization: '', 'sec-fetch-site': 'same-origin' };
const form = (fields: Record<string, string>) => ({
  method: 'POST',
  redirect: 'manual' as const,
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  body: new URLSearchParams(fields),
});

async function signIn(rootKey: string): Promise<string> {
  const response = await fetch(`${service.url}/sign-in`, form({ key: rootKey, to: '/' }));
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const redirect = 'http://127.0.0.1:1/callback';
const verifier = 'v'.repeat(50);

/** Registers a client, which gets a code for the person of the cookie. */
async function authorize(cookie: string): Promise<{ client: string; code: string }> {
  const metadata = {
    client_name: `Client ${randomBytes(4).toString('hex')}`,
    redirect_uris: [redirect],
    token_endpoint_auth_method: 'none',
  };
  const { json } = await service.call('POST', '/oauth/register', metadata);
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: json.client_id, redirect_uri: redirect, code_challenge_method: 'S256' },
    ...{ code_challenge: createHash('sha256').update(verifier).digest('base64url'), resource: `${service.url}/mcp/demo` },
  });
  const url = `${service.url}/oauth/authorize?${query}`;
  const consent = /name="consent" value="([^"]+)"/.exec(await (await fetch(url, { headers: { cookie } })).text())?.[1] ?? '';
  const sent = form({ decision: 'allow', consent });
  const location = (await fetch(url, { ...sent, headers: { ...sent.headers, cookie } })).headers.get('location') ?? '';
  return { client: json.client_id, code: new URL(location).searchParams.get('code') ?? '' };
}

async function token(fields: Record<string, string>) {
  const response = await fetch(`${service.url}/oauth/token`, form({ resource: `${service.url}/mcp/demo`, ...fields }));
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}
const redeem = ({ client, code }: { client: string; code: string }) =>
  token({ grant_type: 'authorization_code', client_id: client, code, redirect_uri: redirect, code_verifier: verifier });
const refresh = (client: string, refreshToken = '') =>
  token({ grant_type: 'refresh_token', client_id: client, refresh_token: refreshToken });

async function list(accessToken = ''): Promise<number> {
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1' } };
  const headers = {
    authorization: `Bearer ${accessToken}`,
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize });
  const response = await fetch(`${service.url}/mcp/demo`, { method: 'POST', headers, body });
  await response.body?.cancel();
  return response.status;
}

/** Returns the path of a link that decides a waiting call, made with these credentials. */
async function linkBy(headers: Record<string, string>): Promise<string> {
  const { json: session } = await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' });
  await service.call('POST', `/v1/sessions/${session.id}/turns`, { input: '/shell date' });
  const { json: approvals } = await service.call('GET', `/v1/sessions/${session.id}/approvals`);
  const path = `/v1/sessions/${session.id}/approvals/${approvals.items[0].callId}/link`;
  const { json, text } = await service.call('POST', path, undefined, headers);
  expect(json?.url, text).toBeDefined();
  return new URL(json.url).pathname;
}
const openLink = async (path: string): Promise<number> =>
  (await fetch(service.url + path, { headers: { accept: 'application/json' } })).status;

it('ends sign-ins, grants, codes and links of the root key, for good', async () => {
  const asking = { tools: [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }] };
  expect((await service.call('PUT', '/v1/toolsets/asking', asking)).status).toBe(201);
  const cookie = await signIn(first);
  const person = { ...page, cookie };
  const [granted, unused, alsoGranted] = [await authorize(cookie), await authorize(cookie), await authorize(cookie)];
  const { body: tokens } = await redeem(granted);
  const { body: otherTokens } = await redeem(alsoGranted);
  const links = [await linkBy({}), await linkBy(person)];
  const { json: kept } = await service.call('POST', '/v1/keys', { name: 'kept', scopes: ['tools', 'approve', 'admin'] });
  const keptLink = await linkBy({ authorization: `Bearer ${kept.key}` });

  const status = async () => ({
    cookie: (await service.call('GET', '/v1/me', undefined, person)).status,
    token: await list(tokens.access_token),
    links: [await openLink(links[0] ?? ''), await openLink(links[1] ?? '')],
    ownKey: (await service.call('GET', '/v1/me', undefined, { authorization: `Bearer ${kept.key}` })).status,
    linkOfKey: await openLink(keptLink),
  });
  const valid = { cookie: 200, token: 200, links: [200, 200], ownKey: 200, linkOfKey: 200 };
  expect(await status()).toEqual(valid);
  await startWith(first);
  expect(await status()).toEqual(valid);
  expect((await refresh(alsoGranted.client, otherTokens.refresh_token)).status).toBe(200);

  await startWith(second);
  const ended = { ...valid, cookie: 401, token: 401, links: [404, 404] };
  expect(await status()).toEqual(ended);
  for (const refused of [await refresh(granted.client, tokens.refresh_token), await redeem(unused)])
    expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  expect((await service.call('GET', '/v1/grants')).json.items).toEqual([]);
  expect((await service.call('POST', links[0] ?? '', { decision: 'approve' }, { authorization: '' })).status).toBe(404);

  // What has ended stays ended, also if the earlier root key comes back.
  await startWith(first);
  expect(await list(tokens.access_token)).toBe(401);
  expect((await refresh(granted.client, tokens.refresh_token)).body.error).toBe('invalid_grant');
});

it('does not affect what the new root key makes', async () => {
  await startWith(second);
  const cookie = await signIn(second);
  const granted = await authorize(cookie);
  const { body: tokens } = await redeem(granted);
  const link = await linkBy({});
  await startWith(second);
  expect([await list(tokens.access_token), await openLink(link)]).toEqual([200, 200]);
  const { items } = (await service.call('GET', '/v1/grants')).json;
  expect(items.map(({ user }: { user: { id: string } }) => user.id)).toEqual(['root']);
});
