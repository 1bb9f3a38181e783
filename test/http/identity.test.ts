import { exportSPKI, importJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { readIdentityProviders } from '../../src/core/people/identity-provider.ts';
import { createIdentity } from '../../src/sign-in/identity.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { createJsonSeal, createSignInNonce } from '../../src/storage/keys/signed-token.ts';
import { createIdentityProvider, type FakeIdentityProvider } from '../fakes/identity-provider.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

const own = 'https://moniker.example.com';
const issuer = 'https://login.example.com';
const environment = {
  MONIKER_PUBLIC_URL: own,
  MONIKER_OIDC_ISSUER: issuer,
  MONIKER_OIDC_CLIENT_ID: 'moniker',
  MONIKER_OIDC_CLIENT_SECRET: 'client secret',
  MONIKER_GOOGLE_CLIENT_ID: 'moniker',
  MONIKER_GOOGLE_CLIENT_SECRET: 'client secret',
  MONIKER_GITHUB_CLIENT_ID: 'moniker',
  MONIKER_GITHUB_CLIENT_SECRET: 'github secret',
  MONIKER_ACCESS_TEAM: 'acme',
  MONIKER_ACCESS_AUD: 'access audience',
  MONIKER_OWNER_EMAILS: 'Boss@example.com',
};

let provider: FakeIdentityProvider;
let harness: Harness;
/** Responses of GitHub, by path. */
let github: Record<string, unknown>;

beforeEach(async () => {
  github = {
    '/login/oauth/access_token': { access_token: 'gho_token' },
    '/user/emails': [
      { email: 'other@example.com', primary: false, verified: true },
      { email: 'ada@example.com', primary: true, verified: true },
    ],
    '/user': { login: 'ada', name: null },
  };
  harness = createHarness(environment);
  provider = await createIdentityProvider({ issuer, clientId: 'moniker', now: harness.clock.now });
  const master = createMasterKey('a master key of at least 32 characters');
  harness.services.identity = createIdentity({
    providers: readIdentityProviders((name) => (environment as Record<string, string>)[name] ?? null),
    clock: harness.clock,
    seal: createJsonSeal(master, 'browser-sign-in'),
    nonce: createSignInNonce,
    consumeNonce: (nonce, expiresAt) => harness.catalog.consumeNonce(nonce, expiresAt),
    outbound: async (request) => {
      const { host, pathname } = new URL(request.url);
      if (host === 'github.com' || host === 'api.github.com') return Response.json(github[pathname]);
      return await provider.fetch(request);
    },
  });
  await harness.send('PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'editor' });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  harness.app.request(path.startsWith('http') ? path : `${own}${path}`, { headers });
const cookieIn = (response: Response, name: string): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.startsWith(`${name}=`)) ?? '';

async function begin(path = '/sign-in/oidc?to=/console/chat') {
  const response = await get(path);
  return { response, url: response.headers.get('location') ?? '', cookie: cookieIn(response, '__Host-moniker-sign-in') };
}

async function signIn(): Promise<Response> {
  const { url, cookie } = await begin();
  return await get(provider.approve(url).href, { cookie });
}

async function refusal(response: Response): Promise<string> {
  expect(response.status).toBe(403);
  expect(cookieIn(response, '__Host-moniker')).toBe('');
  return /<p class="problem" role="alert">([^<]*)/.exec(await response.text())?.[1] ?? '';
}

describe('signing in with OpenID Connect', () => {
  it('sends the browser to the provider, and signs the member in when it returns', async () => {
    const { response, url, cookie } = await begin();
    expect(response.status).toBe(302);
    const query = Object.fromEntries(new URL(url).searchParams);
    expect(query).toMatchObject({ response_type: 'code', scope: 'openid email profile', code_challenge_method: 'S256' });
    expect(query.redirect_uri).toBe(`${own}/sign-in/oidc/callback`);
    expect(response.headers.getSetCookie()[0]).toContain('HttpOnly; Secure; SameSite=Lax');
    const back = await get(provider.approve(url).href, { cookie });
    expect([back.status, back.headers.get('location')]).toEqual([303, '/console/chat']);
    expect(cookieIn(back, '__Host-moniker-sign-in')).toBe('__Host-moniker-sign-in=');
    const me = await bodyOf(await get('/v1/me', { cookie: cookieIn(back, '__Host-moniker') }));
    expect(me).toMatchObject({ role: 'editor', user: { name: 'Ada Lovelace', email: 'ada@example.com' } });
  });

  it.each(['ES256', 'EdDSA'])('accepts tokens that are signed with %s', async (alg) => {
    provider = await createIdentityProvider({ issuer, clientId: 'moniker', now: harness.clock.now, alg });
    expect((await signIn()).status).toBe(303);
  });

  it('refuses people who are not members, and admits the owners of the settings', async () => {
    provider.person.email = 'eve@example.com';
    expect(await refusal(await signIn())).toContain('eve@example.com is not a member of a workspace');
    provider.person.email = 'BOSS@example.com';
    const response = await signIn();
    expect(response.status).toBe(303);
    expect(await bodyOf(await get('/v1/me', { cookie: cookieIn(response, '__Host-moniker') }))).toMatchObject({ role: 'owner' });
  });

  it.each([
    ['not verified', { email_verified: false }],
    ['verified as text', { email_verified: 'true' }],
    ['not said to be verified', { email_verified: undefined }],
    ['missing', { email: undefined }],
    ['with letters that look like others', { email: 'аda@example.com' }],
    ['with the Kelvin sign', { email: '\u212Aate@example.com' }],
  ])('refuses an email that is %s', async (_what, claims) => {
    Object.assign(provider.person, claims);
    expect(await refusal(await signIn())).toMatch(/email address/);
  });

  const forgeries: [what: string, forge: (claims: JWTPayload) => Promise<string>][] = [
    ['is not signed', async (claims) => new UnsecuredJWT(claims).encode()],
    [
      'is signed with the public key as a secret',
      async (claims) => {
        const text = await exportSPKI((await importJWK(provider.key().jwk as never, 'RS256', { extractable: true })) as CryptoKey);
        return await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: provider.key().id }).sign(new TextEncoder().encode(text));
      },
    ],
    ['is of another issuer', (claims) => provider.sign({ ...claims, iss: 'https://evil.example' })],
    ['is for another client', (claims) => provider.sign({ ...claims, aud: 'another' })],
    ['is for several clients, and was issued to another', (claims) => provider.sign({ ...claims, aud: ['moniker', 'b'], azp: 'b' })],
    ['has expired', (claims) => provider.sign({ ...claims, exp: (claims.iat ?? 0) - 61 })],
    ['never expires', ({ exp: _exp, ...claims }) => provider.sign(claims)],
    ['belongs to another sign-in', (claims) => provider.sign({ ...claims, nonce: 'another' })],
    ['has no nonce', ({ nonce: _nonce, ...claims }) => provider.sign(claims)],
    [
      'is signed with a key that it brings',
      async (claims) => {
        const other = await createIdentityProvider({ issuer, clientId: 'moniker', now: harness.clock.now });
        await other.rotate();
        return await other.sign(claims, { jwk: other.key().jwk as never, kid: provider.key().id });
      },
    ],
    ['is damaged', async () => 'a.b.c'],
  ];
  it.each(forgeries)('refuses a token that %s', async (_what, forge) => {
    provider.forge = forge;
    await refusal(await signIn());
  });

  it('loads the keys again for an unknown key, once in 30 seconds', async () => {
    expect((await signIn()).status).toBe(303);
    for (let count = 0; count < 5; count += 1) {
      provider.forge = (claims) => provider.sign(claims, { kid: `unknown-${count}` });
      await refusal(await signIn());
    }
    expect(provider.seen.filter((path) => path === '/jwks').length).toBeLessThanOrEqual(2);
  });

  it('completes a sign-in once, in the browser that began it, within 10 minutes', async () => {
    const { url, cookie } = await begin();
    const back = provider.approve(url).href;
    expect(await refusal(await get(back))).toContain('not begun in this browser');
    const other = await begin();
    expect(await refusal(await get(back, { cookie: other.cookie }))).toContain('not begun in this browser');
    expect((await get(back, { cookie })).status).toBe(303);
    expect(await refusal(await get(back, { cookie }))).toContain('already completed');
    const late = await begin();
    await harness.clock.advance(10 * 60_000);
    expect(await refusal(await get(provider.approve(late.url).href, { cookie: late.cookie }))).toContain('10 minutes');
  });

  it('refuses a response of another provider', async () => {
    const { url, cookie } = await begin();
    const back = provider.approve(url);
    const moved = new URL(back);
    moved.pathname = '/sign-in/google/callback';
    await refusal(await get(moved.href, { cookie }));
    back.searchParams.set('iss', 'https://evil.example');
    expect(await refusal(await get(back.href, { cookie }))).toContain('another identity provider');
    const again = await begin();
    const without = provider.approve(again.url);
    without.searchParams.delete('iss');
    await refusal(await get(without.href, { cookie: again.cookie }));
  });

  it('refuses parameters that are repeated, missing, or an error', async () => {
    for (const change of [
      (query: URLSearchParams) => query.append('code', 'another'),
      (query: URLSearchParams) => query.append('state', 'another'),
      (query: URLSearchParams) => query.delete('code'),
      (query: URLSearchParams) => query.set('error', 'access_denied'),
    ]) {
      const { url, cookie } = await begin();
      const back = provider.approve(url);
      change(back.searchParams);
      await refusal(await get(back.href, { cookie }));
    }
  });

  it('returns to paths of this service only', async () => {
    for (const to of ['https://evil.example', '//evil.example', '/\\evil.example']) {
      const { url, cookie } = await begin(`/sign-in/oidc?to=${encodeURIComponent(to)}`);
      expect((await get(provider.approve(url).href, { cookie })).headers.get('location')).toBe('/');
    }
  });

  it('refuses a configuration of another issuer, and endpoints without TLS', async () => {
    provider.metadata = { issuer: 'https://evil.example' };
    expect((await begin()).response.status).toBe(502);
    provider.metadata = { token_endpoint: 'http://login.example.com/token' };
    expect((await begin()).response.status).toBe(502);
    expect((await get('/sign-in/unknown')).status).toBe(404);
    expect((await get('/sign-in/access')).status).toBe(404);
  });

  it('offers the providers on the page', async () => {
    const page = await (await get('/sign-in?to=/console')).text();
    for (const name of ['login.example.com', 'Google', 'GitHub']) expect(page).toContain(`Sign in with ${name}`);
  });
});

describe('signing in with GitHub', () => {
  const back = async () => {
    const { url, cookie } = await begin('/sign-in/github?to=/console');
    expect(url).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?client_id=moniker&/);
    const state = new URL(url).searchParams.get('state') ?? '';
    return await get(`/sign-in/github/callback?code=c&state=${state}`, { cookie });
  };

  it('uses the primary email if it is verified', async () => {
    const response = await back();
    expect(response.status).toBe(303);
    expect(await bodyOf(await get('/v1/me', { cookie: cookieIn(response, '__Host-moniker') }))).toMatchObject({ user: { name: 'ada' } });
  });

  it.each([
    ['is not verified', { '/user/emails': [{ email: 'ada@example.com', primary: true, verified: false }] }],
    ['is not the primary one', { '/user/emails': [{ email: 'ada@example.com', primary: false, verified: true }] }],
    ['is not given', { '/user/emails': [] }],
  ])('refuses an email that %s', async (_what, changed) => {
    Object.assign(github, changed);
    await refusal(await back());
  });

  it('refuses a code that GitHub does not accept', async () => {
    github['/login/oauth/access_token'] = { error: 'bad_verification_code' };
    await refusal(await back());
  });
});

describe('signing in with Cloudflare Access', () => {
  const team = 'https://acme.cloudflareaccess.com';
  const assertion = async (changes: JWTPayload = {}) => {
    const seconds = Math.floor(harness.clock.now() / 1_000);
    const claims = { iss: team, aud: ['access audience'], sub: 'person', iat: seconds, exp: seconds + 3_600, email: 'ada@example.com' };
    return { 'cf-access-jwt-assertion': await provider.sign({ ...claims, ...changes }) };
  };

  it('signs in at once, for as long as Access does', async () => {
    const response = await get('/sign-in?to=/console', await assertion());
    expect([response.status, response.headers.get('location')]).toEqual([303, '/console']);
    const cookie = cookieIn(response, '__Host-moniker');
    expect((await get('/v1/me', { cookie })).status).toBe(200);
    await harness.clock.advance(3_600_000);
    expect((await get('/v1/me', { cookie })).status).toBe(401);
  });

  it('signs in the console when it asks who is signed in', async () => {
    const response = await get('/sign-in', { ...(await assertion()), accept: 'application/json' });
    expect(await bodyOf(response)).toMatchObject({ person: { user: { email: 'ada@example.com' } } });
    expect(cookieIn(response, '__Host-moniker')).not.toBe('');
  });

  it.each([
    ['another application', { aud: ['another'] }],
    ['another team', { iss: 'https://evil.cloudflareaccess.com' }],
    ['a service without an email', { email: undefined }],
    ['an earlier time', { exp: 1 }],
  ])('refuses an assertion for %s', async (_what, changes) => {
    await refusal(await get('/sign-in', await assertion(changes as JWTPayload)));
  });

  it('does not accept the header in place of a cookie', async () => {
    expect((await get('/v1/me', await assertion())).status).toBe(401);
  });
});
