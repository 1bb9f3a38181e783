/**
 * Every kind of token with a time in it, with times that are too early, too late, missing or no times. The table of kinds is in
 * docs/credentials.md; what the Catalog checks is in `test/objects/catalog/keys/token-times.workers.test.ts`.
 */
import type { JWTPayload } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { readIdentityProviders } from '../../src/core/people/identity-provider.ts';
import { createVerifier } from '../../src/core/triggers/signatures/create-verifier.ts';
import { openState, sealState, type ServedState } from '../../src/engine/mcp/serve-state.ts';
import { createIdentity } from '../../src/sign-in/identity.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import {
  createJsonSeal,
  createSignInNonce,
  createStateSeal,
  mintApprovalToken,
  mintSignInState,
  readApprovalToken,
  readSignInState,
} from '../../src/storage/keys/signed-token.ts';
import { createAuthorizationServer } from '../fakes/authorization-server.ts';
import { createIdentityProvider, type FakeIdentityProvider } from '../fakes/identity-provider.ts';
import { countedIds } from '../fakes/runtime.ts';
import { senders } from '../core/triggers/signatures/reference-verifiers.ts';
import { signedRequest } from '../core/triggers/webhook-vectors.ts';
import { comeBack, createInstallation, own as ownSignIn, serverOf } from '../mcp/oauth/installation.ts';
import { bodyOf, createHarness, demo, type Harness } from './harness.ts';

const publicUrl = 'https://moniker.example.com';
const issuer = 'https://login.example.com';
const docsUrl = 'https://docs.example.com/mcp';
const team = 'https://acme.cloudflareaccess.com';
const environment = {
  MONIKER_PUBLIC_URL: publicUrl,
  MONIKER_OIDC_ISSUER: issuer,
  MONIKER_OIDC_CLIENT_ID: 'moniker',
  MONIKER_OIDC_CLIENT_SECRET: 'client secret',
  MONIKER_ACCESS_TEAM: 'acme',
  MONIKER_ACCESS_AUD: 'access audience',
};
const master = createMasterKey('a master key of at least 32 characters');
const [second, minute, day] = [1_000, 60_000, 86_400_000];

let provider: FakeIdentityProvider;
let harness: Harness;

beforeEach(async () => {
  harness = createHarness(environment, {
    consents: createJsonSeal(master, 'consent'),
    oauth: { request: async () => ({}) as never, declined: async () => 'https://client.example.com/denied' } as never,
  });
  provider = await createIdentityProvider({ issuer, clientId: 'moniker', now: harness.clock.now });
  harness.services.identity = createIdentity({
    providers: readIdentityProviders((name) => (environment as Record<string, string>)[name] ?? null),
    clock: harness.clock,
    seal: createJsonSeal(master, 'browser-sign-in'),
    nonce: createSignInNonce,
    consumeNonce: (nonce, expiresAt) => harness.catalog.consumeNonce(nonce, expiresAt),
    outbound: (request) => provider.fetch(request),
  });
  await harness.send('PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'editor' });
});

const get = (path: string, headers: Record<string, string> = {}) =>
  harness.app.request(path.startsWith('http') ? path : `${publicUrl}${path}`, { headers });
const cookieIn = (response: Response, name: string): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.startsWith(`${name}=`)) ?? '';

async function begin(): Promise<{ url: string; cookie: string }> {
  const response = await get('/sign-in/oidc');
  return { url: response.headers.get('location') ?? '', cookie: cookieIn(response, '__Host-moniker-sign-in') };
}

/** Whether the browser was signed in. Otherwise the reason must be on the page. */
async function isSignedIn(response: Response): Promise<boolean> {
  if (response.status === 303) return true;
  expect(response.status).toBe(403);
  expect(await response.text()).toMatch(/role="alert">[^<]+/);
  return false;
}

/** Replaces times of the claims; a value that JSON does not have is written as it is. */
function withTimes(claims: JWTPayload, times: Record<string, unknown>): string {
  const written = { ...claims, ...times };
  const texts = Object.entries(written)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${JSON.stringify(name)}:${value === Number.POSITIVE_INFINITY ? '1e400' : JSON.stringify(value)}`);
  return `{${texts.join(',')}}`;
}

const issued: Record<string, (times: (seconds: number) => Record<string, unknown>) => Promise<boolean>> = {
  'an ID token': async (times) => {
    provider.forge = (claims) => provider.signText(withTimes(claims, times(claims.iat ?? 0)));
    const { url, cookie } = await begin();
    return await isSignedIn(await get(provider.approve(url).href, { cookie }));
  },
  'an assertion of Cloudflare Access': async (times) => {
    const seconds = harness.clock.now() / second;
    const claims = { iss: team, aud: ['access audience'], sub: 'person', iat: seconds, exp: seconds + 3_600, email: 'ada@example.com' };
    const assertion = await provider.signText(withTimes(claims, times(seconds)));
    return await isSignedIn(await get('/sign-in', { 'cf-access-jwt-assertion': assertion }));
  },
};
const noTimes = ['1767225600', '', null, true, [1_767_225_600], {}, Number.POSITIVE_INFINITY];
const issuedCases: [what: string, isAccepted: boolean, times: (now: number) => Record<string, unknown>][] = [
  ['as issued', true, () => ({})],
  ['issued 60 s ahead', true, (now) => ({ iat: now + 60 })],
  ['issued 61 s ahead', false, (now) => ({ iat: now + 61 })],
  ['issued a fraction more than 60 s ahead', false, (now) => ({ iat: now + 60.5 })],
  ['issued an hour ahead', false, (now) => ({ iat: now + 3_600, exp: now + 7_200 })],
  ['issued in milliseconds', false, (now) => ({ iat: now * 1_000 })],
  ['issued a week ago, and still valid', true, (now) => ({ iat: now - 604_800 })],
  ['issued before 1970', false, () => ({ iat: -1 })],
  ['issued at no time', false, () => ({ iat: undefined })],
  ['valid from 60 s ahead', true, (now) => ({ nbf: now + 60 })],
  ['valid from 61 s ahead', false, (now) => ({ nbf: now + 61 })],
  ['valid from before 1970', false, () => ({ nbf: -1 })],
  ['valid until 59 s ago', true, (now) => ({ iat: now - 300, exp: now - 59 })],
  ['valid until 60 s ago', false, (now) => ({ iat: now - 300, exp: now - 60 })],
  ['valid until before it was issued', false, (now) => ({ iat: now + 50, exp: now + 10 })],
  ['valid until before 1970', false, () => ({ exp: -1 })],
  ['valid forever', false, () => ({ exp: undefined })],
  ['valid for a month', true, (now) => ({ exp: now + 31 * 86_400 })],
  ['valid for two years', false, (now) => ({ exp: now + 2 * 366 * 86_400 })],
  ['valid until a time in milliseconds', false, (now) => ({ exp: (now + 300) * 1_000 })],
  ['valid for longer than time', false, () => ({ exp: 1e300 })],
  ['with fractions', true, (now) => ({ iat: now - 0.5, nbf: now - 0.5, exp: now + 300.5 })],
  ...['iat', 'nbf', 'exp'].flatMap((claim) =>
    noTimes.map((value): [string, boolean, () => Record<string, unknown>] => [
      `with ${claim} ${value === Number.POSITIVE_INFINITY ? '1e400' : JSON.stringify(value)}`,
      false,
      () => ({ [claim]: value }),
    ]),
  ),
];

describe.each(Object.entries(issued))('%s of an identity provider', (_kind, accepts) => {
  it.each(issuedCases)('%s is accepted: %s', async (_what, isAccepted, times) => {
    expect(await accepts(times)).toBe(isAccepted);
  });
});

/** Values that we sign, each with a time at which it ends. `accepts`: with another time, and signed again. */
type OwnKind = { lifetimeMs: number; isText?: true; accepts(until: unknown): Promise<boolean>; now?(): number };

/** Signs a sealed object again, with another `until`. */
async function resealed(purpose: 'browser-session' | 'browser-sign-in' | 'consent', text: string, until: unknown): Promise<string> {
  const seal = createJsonSeal(master, purpose);
  const content = await seal.open('', text);
  expect(content).not.toBeNull();
  return await seal.seal('', { ...content, until });
}

const ownKinds: Record<string, OwnKind> = {
  'the cookie of a person': {
    lifetimeMs: day,
    async accepts(until) {
      const { people } = harness.services;
      return (await people.read(await resealed('browser-session', await people.begin(null), until))) !== null;
    },
  },
  'the cookie of a sign-in': {
    lifetimeMs: 10 * minute,
    async accepts(until) {
      const { url, cookie } = await begin();
      const [name = '', value = ''] = cookie.split('=');
      return await isSignedIn(
        await get(provider.approve(url).href, { cookie: `${name}=${await resealed('browser-sign-in', value, until)}` }),
      );
    },
  },
  'the page that asks for consent': {
    lifetimeMs: 10 * minute,
    async accepts(until) {
      const { people } = harness.services;
      const session = await people.begin(null);
      const person = await people.read(session);
      const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('?client_id=a')));
      const query = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      const consent = await createJsonSeal(master, 'consent').seal('', { until, session: person?.session.id, query });
      const response = await harness.app.request(`${publicUrl}/oauth/authorize?client_id=a`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          cookie: `__Host-moniker=${session}`,
        },
        body: new URLSearchParams({ decision: 'deny', consent }).toString(),
      });
      if (response.status === 303) return true;
      expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('This page has expired')]);
      return false;
    },
  },
  'the link of an approval': {
    lifetimeMs: day,
    isText: true,
    async accepts(until) {
      await harness.send('PUT', '/v1/toolsets/demo', demo);
      const { id } = await bodyOf(await harness.send('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'demo' }));
      const { pending } = await bodyOf(await harness.send('POST', `/v1/sessions/${id}/turns`, { input: 'ask' }));
      const { url } = await bodyOf(await harness.send('POST', `/v1/sessions/${id}/approvals/${pending[0].callId}/link`));
      const link = await readApprovalToken(master, new URL(url).pathname.split('/').at(-1) ?? '');
      if (link === null) throw new Error('not signed here');
      const response = await get(`/approve/${await mintApprovalToken(master, { ...link, expiresAt: until as number })}`);
      if (response.status === 200) return true;
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('This link has expired')]);
      return false;
    },
  },
  'the state of a sign-in to a server': {
    lifetimeMs: 10 * minute,
    isText: true,
    now: Date.now,
    async accepts(until) {
      const fake = createAuthorizationServer({ issuer: 'https://issuer.example.com', resource: docsUrl });
      const signIns = createInstallation([fake], [serverOf('docs', docsUrl, { grant: 'authorization_code' })]).isolate();
      const { authorizationUrl } = await signIns.begin('main', 'docs', ownSignIn);
      const back = fake.approve(authorizationUrl);
      const state = await readSignInState(master, back.searchParams.get('state') ?? '');
      if (state === null) throw new Error('not signed here');
      back.searchParams.set('state', await mintSignInState(master, { ...state, expiresAt: until as number }));
      return await comeBack(signIns, back).then(
        () => true,
        (error: Error) => {
          expect(error.message).toContain('has expired');
          return false;
        },
      );
    },
  },
  'the state of a question over MCP': {
    lifetimeMs: 10 * minute,
    async accepts(expiresAt) {
      const seal = createStateSeal(master);
      const deps = { clock: harness.clock, ids: countedIds(), seal, consumeNonce: async () => true };
      const principal = { workspace: 'default', keyId: 'root', scopes: [] };
      const about = { principal, target: null, kind: 'call', names: ['docs.search'], given: {} };
      const state = { callId: 'call_1', asked: 'approval', keys: [], rounds: 1 } as const;
      const opened = await seal.open('default', await sealState(deps, about, { ...state, keys: [] }));
      return await openState(deps, about, await seal.seal('default', { ...opened, expiresAt } as ServedState)).then(
        () => true,
        (error: Error) => {
          expect(error.message).toContain('has expired');
          return false;
        },
      );
    },
  },
};
type OwnCase = [what: string, isAccepted: boolean, until: (now: number, lifetimeMs: number) => unknown];
const ownCases: OwnCase[] = [
  ['as issued', true, (now, lifetime) => now + lifetime],
  ['for 10 s more', true, (now) => now + 10 * second],
  ['until now', false, (now) => now],
  ['until 59 s ago', false, (now) => now - 59 * second],
  ['of a clock that is 50 s ahead', true, (now, lifetime) => now + lifetime + 50 * second],
  ['of a clock that is 70 s ahead', false, (now, lifetime) => now + lifetime + 70 * second],
  ['of a clock that is a year ahead', false, (now, lifetime) => now + lifetime + 365 * day],
  ['for longer than time', false, () => 1e300],
  ['until before 1970', false, () => -1],
  ['with a fraction', true, (now) => now + 10 * second + 0.5],
  ['until a text', false, () => 'tomorrow!'],
  ['until an empty text', false, () => ''],
];
const ofJson: OwnCase[] = [undefined, null, true, [1e13], {}, '9999999999999'].map((value) => [
  `until ${JSON.stringify(value)}`,
  false,
  () => value,
]);

describe.each(Object.entries(ownKinds))('%s', (_kind, { lifetimeMs, isText, accepts, now }) => {
  it.each(isText === true ? ownCases : [...ownCases, ...ofJson])('%s is accepted: %s', async (_what, isAccepted, until) => {
    expect(await accepts(until((now ?? harness.clock.now)(), lifetimeMs))).toBe(isAccepted);
  });
});

describe('a delivery that is signed by its sender', () => {
  const seconds = 1_767_225_600;
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const times: [what: string, isAccepted: boolean, time: string][] = [
    ['now', true, `${seconds}`],
    ['5 minutes ahead, as the schemes allow', true, `${seconds + 300}`],
    ['more than 5 minutes ahead', false, `${seconds + 301}`],
    ['5 minutes ago', true, `${seconds - 300}`],
    ['more than 5 minutes ago', false, `${seconds - 301}`],
    ['in milliseconds', false, `${seconds}000`],
    ['after all time', false, '9'.repeat(15)],
    ['after all numbers', false, '9'.repeat(400)],
    ['before 1970', false, '-1'],
    ['at no time', false, ''],
    ['with a fraction', false, `${seconds}.5`],
    ['as a text', false, 'NaN'],
    ['with an exponent', false, '1767225600e0'],
  ];
  describe.each(['standard', 'stripe', 'slack'] as const)('%s', (scheme) => {
    it.each(times)('%s is accepted: %s', async (_what, isAccepted, time) => {
      const body = '{"type":"event_callback"}';
      const headers = senders[scheme]({ secret, id: 'msg_1', time, body });
      expect((await createVerifier({ scheme }, [secret])(signedRequest(headers, body, seconds))).valid).toBe(isAccepted);
    });
  });
});

describe('a token of an authorization server', () => {
  /** `seconds`: after how many the token is renewed; null: never, as the server refuses it when it has ended. */
  const lifetimes: [what: string, expiresIn: unknown, seconds: number | null | 'refused'][] = [
    ['an hour', 3_600, 3_540],
    ['an hour, as a text', '3600', 3_540],
    ['a fraction', 100.5, 80],
    ['none', undefined, null],
    ['a negative time', -5, null],
    ['longer than time', 1e300, null],
    ['what is no number', 'soon', 'refused'],
    ['a list', [3_600, 1], 'refused'],
  ];
  it.each(lifetimes)('that is valid for %s', async (_what, expires_in, seconds) => {
    let asked = 0;
    const answer = () => {
      asked += 1;
      return Response.json({ access_token: `token-${asked}`, token_type: 'Bearer', expires_in });
    };
    const fake = createAuthorizationServer({
      ...{ issuer: 'https://issuer.example.com', resource: docsUrl, clients: { us: { secret: 'secret' } } },
      instead: { '/token': answer },
    });
    const server = serverOf('docs', docsUrl, { grant: 'client_credentials', clientId: 'us', clientSecret: { secret: 'CLIENT_SECRET' } });
    const installation = createInstallation([fake], [server]);
    installation.secrets.set('CLIENT_SECRET', { value: 'secret', hosts: ['issuer.example.com'] });
    const token = async () => await installation.isolate().tokens('main', server, null)?.token();
    if (seconds === 'refused') {
      await expect(token()).rejects.toMatchObject({ code: 'upstream_error' });
      return;
    }
    expect(await token()).toBe('token-1');
    installation.pass((seconds ?? 5 * 365 * 86_400) * second - 5 * second);
    expect(await token()).toBe('token-1');
    installation.pass(10 * second);
    expect(await token()).toBe(seconds === null ? 'token-1' : 'token-2');
  });
});
