import { beforeEach, describe, expect, it } from 'vitest';
import { userIdOf } from '../../src/core/people/person.ts';
import type { Role } from '../../src/core/people/principal.ts';
import { bodyOf, createHarness, type Harness, problemIn } from './harness.ts';

const own = 'https://moniker.example.com';

let harness: Harness;
beforeEach(() => {
  harness = createHarness({ MONIKER_PUBLIC_URL: own, MONIKER_GITHUB_CLIENT_ID: 'id', MONIKER_GITHUB_CLIENT_SECRET: 'secret' });
});

/** The cookie of a person, as after signing in with an identity provider. */
async function cookieOf(email: string): Promise<string> {
  const user = { id: await userIdOf(email), name: 'Ada', email };
  return `__Host-moniker=${await harness.services.people.begin({ user, provider: 'github' })}`;
}

async function send(method: string, path: string, cookie: string, body?: unknown, headers: Record<string, string> = {}) {
  return await harness.app.request(`${own}${path}`, {
    method,
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

const add = (role: Role, more: object = {}) => harness.send('PUT', '/v1/members/ada', { email: 'Ada@Example.com', role, ...more });

describe('/v1/members', () => {
  it('stores members with the email in lower case and the id of the person', async () => {
    expect((await add('editor')).status).toBe(201);
    const user = await userIdOf('ada@example.com');
    expect(await bodyOf(await harness.send('GET', '/v1/members/ada'))).toEqual({
      name: 'ada',
      email: 'ada@example.com',
      role: 'editor',
      user,
    });
    expect((await harness.send('PATCH', '/v1/members/ada', { role: 'user', toolsets: ['a'] })).status).toBe(200);
    expect((await bodyOf(await harness.send('GET', '/v1/members'))).items).toEqual([
      { name: 'ada', email: 'ada@example.com', role: 'user', toolsets: ['a'], user },
    ]);
    expect((await harness.send('DELETE', '/v1/members/ada')).status).toBe(204);
  });

  it.each([
    ['an unknown role', 'role', { email: 'a@example.com', role: 'admin' }],
    ['no email', 'email', { role: 'user' }],
    ['no domain', 'email', { email: 'ada@', role: 'user' }],
    ['letters that look like others', 'email', { email: 'аda@example.com', role: 'user' }],
    ['the Kelvin sign, which is k in lower case', 'email', { email: '\u212Aate@example.com', role: 'user' }],
    ['two addresses', 'email', { email: 'a@example.com,b@example.com', role: 'user' }],
    ['a line feed', 'email', { email: 'a@example.com\n', role: 'user' }],
    ['an owner of a part', 'role', { email: 'a@example.com', role: 'owner', toolsets: ['a'] }],
    ['an approver of a part', 'role', { email: 'a@example.com', role: 'approver', agents: ['a'] }],
  ])('refuses %s', async (_what, path, body) => {
    expect(await problemIn(await harness.send('PUT', '/v1/members/ada', body))).toBe(`422 invalid_request at ${path}`);
  });
});

describe('a member who is signed in', () => {
  it.each([
    ['owner', ['chat', 'tools', 'toolsets', 'approve', 'admin']],
    ['editor', ['chat', 'tools', 'toolsets']],
    ['user', ['chat', 'tools']],
    ['approver', ['tools', 'approve']],
  ] as const)('has the scopes of the role %s', async (role, scopes) => {
    await add(role);
    const id = await userIdOf('ada@example.com');
    const me = await bodyOf(await send('GET', '/v1/me', await cookieOf('ada@example.com')));
    expect(me).toMatchObject({ id: `user-${id}`, role, scopes, user: { id, name: 'Ada', email: 'ada@example.com' }, workspace: 'default' });
  });

  it('is bound to the toolsets of the member', async () => {
    await add('user', { toolsets: ['desk'] });
    const cookie = await cookieOf('ada@example.com');
    expect(await bodyOf(await send('GET', '/v1/me', cookie))).toMatchObject({ toolsets: ['desk'] });
    expect((await send('GET', '/v1/toolsets/other/tools', cookie)).status).toBe(403);
  });

  it('has no rights without being a member, or in another workspace', async () => {
    const cookie = await cookieOf('eve@example.com');
    expect((await send('GET', '/v1/me', cookie)).status).toBe(403);
    await add('owner');
    const ada = await cookieOf('ada@example.com');
    const response = await send('GET', '/v1/me', ada, undefined, { 'x-moniker-workspace': 'other' });
    expect(response.status).toBe(403);
    expect((await bodyOf(response)).detail).toContain('ada@example.com is not a member of the workspace "other"');
    expect((await send('GET', '/v1/me', ada, undefined, { 'x-moniker-workspace': 'default' })).status).toBe(200);
  });

  it('loses the rights within 30 seconds after the removal or a change of role', async () => {
    await add('owner');
    const cookie = await cookieOf('ada@example.com');
    expect((await send('GET', '/v1/keys', cookie)).status).toBe(200);
    await add('user');
    await harness.clock.advance(30_000);
    expect((await send('GET', '/v1/keys', cookie)).status).toBe(403);
    await harness.send('DELETE', '/v1/members/ada');
    await harness.clock.advance(30_000);
    expect((await send('GET', '/v1/me', cookie)).status).toBe(403);
  });

  it('is signed out for every holder of the cookie', async () => {
    await add('user');
    const [cookie, elsewhere] = [await cookieOf('ada@example.com'), await cookieOf('ada@example.com')];
    expect((await send('GET', '/v1/me', cookie)).status).toBe(200);
    expect((await send('POST', '/sign-out', cookie)).status).toBe(303);
    expect(await bodyOf(await send('GET', '/v1/me', cookie))).toMatchObject({ status: 401, reason: 'expired' });
    expect(await (await send('GET', '/sign-in', cookie)).text()).not.toContain('signed in as');
    expect((await send('GET', '/v1/me', elsewhere)).status).toBe(200);
  });

  it('is shown with the workspaces to choose from', async () => {
    await add('approver');
    const state = await bodyOf(await send('GET', '/sign-in', await cookieOf('ada@example.com'), undefined, { accept: 'application/json' }));
    expect(state.person).toMatchObject({ isRoot: false, workspaces: [{ workspace: 'default', role: 'approver' }] });
  });

  it('cannot manage workspaces as an owner', async () => {
    await add('owner');
    const cookie = await cookieOf('ada@example.com');
    expect((await send('GET', '/v1/workspaces', cookie)).status).toBe(403);
    expect((await send('PUT', '/v1/members/bob', cookie, { email: 'bob@example.com', role: 'user' })).status).toBe(201);
  });
});
