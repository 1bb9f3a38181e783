/** People sign in with an OpenID provider on this machine: an owner of the settings, a member, and an approver who decides for them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createIdentityProvider, type FakeIdentityProvider } from '../fakes/identity-provider.ts';
import { listenUpstream, type ListeningUpstream } from '../fakes/upstreams/upstream.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

const dataDir = makeDataDir();
let service: RunningService;
let listening: ListeningUpstream;
let provider: FakeIdentityProvider;

beforeAll(async () => {
  listening = await listenUpstream({ handle: (request) => provider.fetch(request) });
  const issuer = listening.url.replace(/\/$/, '');
  provider = await createIdentityProvider({ issuer, clientId: 'moniker', now: Date.now });
  service = await startService(dataDir, {
    MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*',
    MONIKER_OIDC_ISSUER: issuer,
    MONIKER_OIDC_CLIENT_ID: 'moniker',
    MONIKER_OIDC_CLIENT_SECRET: 'client secret',
    MONIKER_OWNER_EMAILS: 'boss@example.com',
  });
});
afterAll(async () => {
  await service?.stop();
  listening?.close();
  removeDataDir(dataDir);
});

const cookieIn = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => !cookie.endsWith('=')) ?? '';

/** Signs in as a browser does. Returns what sends requests with the cookie. */
async function signIn(email: string) {
  provider.person = { email, email_verified: true, name: email };
  const begun = await service.call('GET', '/sign-in/oidc?to=/console', undefined, { authorization: '' });
  expect(begun.status, begun.text).toBe(302);
  const back = provider.approve(begun.headers.get('location') ?? '');
  const signedIn = await service.call('GET', back.pathname + back.search, undefined, {
    authorization: '',
    cookie: cookieIn(begun.headers),
  });
  const cookie = cookieIn(signedIn.headers);
  const send = (method: string, path: string, body?: unknown) =>
    service.call(method, path, body, { authorization: '', cookie, 'sec-fetch-site': 'same-origin' });
  return { signedIn, send };
}

it('signs in owners of the settings, who add members with roles', async () => {
  expect((await signIn('ada@example.com')).signedIn.status).toBe(403);
  const boss = await signIn('boss@example.com');
  expect([boss.signedIn.status, boss.signedIn.headers.get('location')]).toEqual([303, '/console']);
  expect((await boss.send('GET', '/v1/me')).json).toMatchObject({ role: 'owner', user: { email: 'boss@example.com' } });
  expect((await boss.send('PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'editor' })).status).toBe(201);
  expect((await boss.send('PUT', '/v1/members/judge', { email: 'judge@example.com', role: 'approver' })).status).toBe(201);
});

it('lets an approver decide in the session of a member, without reading it', async () => {
  const ada = await signIn('ada@example.com');
  const toolset = { tools: [{ tool: 'builtin.write_file', name: 'save', approval: 'always' }] };
  expect((await ada.send('PUT', '/v1/toolsets/asking', toolset)).status).toBe(201);
  const { json: session } = await ada.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'asking' });
  const path = `/v1/sessions/${session.id}`;
  const asked = (await ada.send('POST', `${path}/turns`, { input: '/save {"path": "a.txt", "content": "one"}' })).json;
  const call = `${path}/approvals/${asked.pending[0].callId}`;

  const judge = await signIn('judge@example.com');
  expect((await judge.send('GET', call)).json.arguments).toEqual({ path: 'a.txt', content: 'one' });
  for (const hidden of ['', '/messages', '/files', '/events?follow=false'])
    expect((await judge.send('GET', path + hidden)).status, hidden).toBeGreaterThanOrEqual(403);
  expect((await judge.send('POST', `${path}/turns`, { input: 'hello' })).status).toBeGreaterThanOrEqual(403);
  expect((await ada.send('POST', call, { decision: 'approve' })).status).toBe(403);
  expect((await judge.send('POST', call, { decision: 'approve', remember: true })).status).toBe(403);
  expect((await judge.send('POST', call, { decision: 'approve' })).status).toBe(200);
});

it('signs out, and refuses the cookie afterwards', async () => {
  const ada = await signIn('ada@example.com');
  expect((await ada.send('GET', '/sign-in')).text).toContain('You are signed in as <strong>ada@example.com</strong>');
  expect((await ada.send('POST', '/sign-out')).status).toBe(303);
  expect((await ada.send('GET', '/v1/me')).json).toMatchObject({ status: 401, reason: 'expired' });
});
