import { beforeEach, describe, expect, it } from 'vitest';
import { returnPath } from '../../src/http/routes/people/sign-in.ts';
import { bodyOf, createHarness, type Harness, rootKey } from './harness.ts';

const own = 'https://moniker.example.com';
const sameOrigin = { 'sec-fetch-site': 'same-origin' };

let harness: Harness;
beforeEach(() => {
  harness = createHarness({ MONIKER_PUBLIC_URL: own });
});

const request = (path: string, init: RequestInit & { headers?: Record<string, string> } = {}) => harness.app.request(`${own}${path}`, init);

async function signIn(form: Record<string, string> = { key: rootKey, to: '/console' }, headers: Record<string, string> = sameOrigin) {
  return await request('/sign-in', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  });
}

async function cookie(): Promise<string> {
  return ((await signIn()).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

describe('signing in with the root key', () => {
  it('sets a cookie that no script and no other site can use, and returns to the page', async () => {
    const response = await signIn();
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/console');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const [value, ...attributes] = (response.headers.get('set-cookie') ?? '').split('; ');
    expect(value).toMatch(/^__Host-moniker=[\w.-]+$/);
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=86400', 'Path=/', 'SameSite=Lax', 'Secure']);
  });

  it('shows a page with the form, and says who is signed in', async () => {
    const page = await request('/sign-in?to=/console/chat');
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(await page.text()).toContain('value="/console/chat"');
    const signedIn = await request('/sign-in', { headers: { cookie: await cookie() } });
    expect(await signedIn.text()).toContain('You are signed in as <strong>root</strong>');
    const state = await bodyOf(await request('/sign-in', { headers: { cookie: await cookie(), accept: 'application/json' } }));
    expect(state).toMatchObject({ person: { user: { id: 'root', name: 'root' }, isRoot: true }, providers: [] });
    expect(await bodyOf(await request('/sign-in', { headers: { accept: 'application/json' } }))).toMatchObject({ person: null });
  });

  it.each([
    ['a wrong key', 'x'.repeat(40)],
    ['no key', ''],
    ['a part of it', rootKey.slice(0, -1)],
  ])('refuses %s', async (_what, key) => {
    const response = await signIn({ key });
    expect(response.status).toBe(401);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toContain('This is not the root key of this service.');
  });

  it('refuses a form of another site', async () => {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ] as Record<string, string>[]) {
      const response = await signIn({ key: rootKey }, headers);
      expect(response.status).toBe(403);
      expect(response.headers.get('set-cookie')).toBeNull();
    }
    expect((await signIn({ key: rootKey }, { origin: own })).status).toBe(303);
  });

  it('requires HTTPS outside of this machine', async () => {
    const plain = createHarness();
    const post = (origin: string) =>
      plain.app.request(`${origin}/sign-in`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', origin },
        body: new URLSearchParams({ key: rootKey }).toString(),
      });
    expect((await post('http://192.0.2.1:8787')).status).toBe(403);
    expect((await post('http://127.0.0.1:8787')).headers.get('set-cookie')).toMatch(
      /^moniker=[^;]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });

  it('returns to paths of this service only', () => {
    expect(returnPath('/console?a=b#c')).toBe('/console?a=b#c');
    for (const to of [
      undefined,
      '',
      'console',
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '\\/evil.example',
      '/\t/evil.example',
      '/.//evil.example',
      '/a/..//evil.example',
      'javascript:alert(1)',
      'https:/evil.example',
    ])
      expect(returnPath(to), String(to)).toBe('/');
  });
});

describe('requests with the cookie', () => {
  it('have the rights of the root key', async () => {
    const response = await request('/v1/me', { headers: { cookie: await cookie() } });
    expect(await bodyOf(response)).toMatchObject({ id: 'root', workspace: 'default' });
  });

  it('are refused when another site sends them', async () => {
    const headers = { cookie: await cookie(), 'content-type': 'application/json' };
    const put = (more: Record<string, string>) =>
      request('/v1/agents/a', { method: 'PUT', headers: { ...headers, ...more }, body: JSON.stringify({ model: 'rehearsal/default' }) });
    expect((await put({})).status).toBe(403);
    expect((await put({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await put({ origin: own, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await put({ 'sec-fetch-site': 'none' })).status).toBe(403);
    expect((await put(sameOrigin)).status).toBe(201);
    expect((await put({ origin: own })).status).toBe(200);
    const get = (more: Record<string, string>) => request('/v1/me', { headers: { ...headers, ...more } });
    expect((await get({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await get({ 'sec-fetch-site': 'none' })).status).toBe(200);
  });

  it('are refused with a forged, damaged, expired or previous cookie', async () => {
    const valid = await cookie();
    const [name = '', value = ''] = valid.split('=');
    const [payload = '', mac = ''] = value.split('.');
    const bad = [
      `${name}=x`,
      `${name}=.`,
      `${name}=${payload}.`,
      `${name}=${payload}.${'A'.repeat(43)}`,
      `${name}=${payload}x.${mac}`,
      `${name}=${value}.${mac}`,
      `${name}=${'A'.repeat(5_000)}`,
      `moniker=${value}`,
    ];
    for (const one of bad) expect((await request('/v1/me', { headers: { cookie: one } })).status, one).toBe(401);
    const other = createHarness({ MONIKER_PUBLIC_URL: own, MONIKER_ROOT_KEY: 'another root key of at least 32 characters' });
    expect((await other.app.request(`${own}/v1/me`, { headers: { cookie: valid } })).status).toBe(401);
    harness.clock.advance(24 * 60 * 60_000);
    const expired = await request('/v1/me', { headers: { cookie: valid } });
    expect(await bodyOf(expired)).toMatchObject({ status: 401, reason: 'expired' });
  });

  it('use the key if they have one', async () => {
    const headers = { cookie: await cookie(), ...(await harness.key({ scopes: ['chat'] })) };
    expect(await bodyOf(await request('/v1/me', { headers }))).toMatchObject({ scopes: ['chat'] });
    expect((await request('/v1/me', { headers: { cookie: await cookie(), authorization: 'Bearer wrong' } })).status).toBe(401);
  });

  it('are not accepted for MCP', async () => {
    const response = await request('/mcp', { method: 'POST', headers: { cookie: await cookie(), ...sameOrigin }, body: '{}' });
    expect(response.status).toBe(401);
  });
});

describe('signing out', () => {
  it('removes the cookie', async () => {
    const response = await request('/sign-out', { method: 'POST', headers: { cookie: await cookie(), ...sameOrigin } });
    expect(response.status).toBe(303);
    expect(response.headers.get('set-cookie')).toMatch(/^__Host-moniker=; Max-Age=0;/);
  });

  it('is not done for another site', async () => {
    expect((await request('/sign-out', { method: 'POST', headers: { origin: 'https://evil.example' } })).status).toBe(403);
  });
});
