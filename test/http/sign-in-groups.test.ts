/** Groups of identity providers: the roles and toolsets that they give at each sign-in, and take away. */
import { type JWTPayload, UnsecuredJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { type GroupMap, readGroupMap, rightsOfGroups } from '../../src/core/people/group-map.ts';
import { readIdentityProviders } from '../../src/core/people/identity-provider.ts';
import { Problem } from '../../src/core/problem.ts';
import { writeGroupMembers } from '../../src/http/sign-in/group-member.ts';
import { createIdentity } from '../../src/sign-in/identity.ts';
import { createMasterKey } from '../../src/storage/keys/master-key.ts';
import { createJsonSeal, createSignInNonce } from '../../src/storage/keys/signed-token.ts';
import { createIdentityProvider, type FakeIdentityProvider } from '../fakes/identity-provider.ts';
import { bodyOf, createHarness, type Harness } from './harness.ts';

const own = 'https://moniker.example.com';
const issuer = 'https://login.example.com';
const map = [
  { group: 'platform', role: 'editor' },
  { group: 'support', role: 'user', toolsets: ['tickets'] },
  { group: 'docs', role: 'user', toolsets: ['wiki', 'tickets'] },
  { group: 'duty', role: 'approver' },
  { group: 'leads', role: 'owner' },
];
const environment: Record<string, string> = {
  MONIKER_PUBLIC_URL: own,
  MONIKER_OIDC_ISSUER: issuer,
  MONIKER_OIDC_CLIENT_ID: 'moniker',
  MONIKER_OIDC_CLIENT_SECRET: 'client secret',
  MONIKER_OIDC_GROUPS: JSON.stringify({ map }),
  MONIKER_GITHUB_CLIENT_ID: 'moniker',
  MONIKER_GITHUB_CLIENT_SECRET: 'github secret',
  MONIKER_GITHUB_GROUPS: JSON.stringify({
    map: [
      { group: 'acme/platform', role: 'editor' },
      { group: 'acme', role: 'user' },
    ],
  }),
  MONIKER_ACCESS_TEAM: 'acme',
  MONIKER_ACCESS_AUD: 'access audience',
  MONIKER_ACCESS_GROUPS: JSON.stringify({ map: [{ group: 'platform', role: 'editor' }] }),
};

let provider: FakeIdentityProvider;
let harness: Harness;
let github: (path: string, query: URLSearchParams) => unknown;
let graph: (request: Request) => Response;

async function configure(more: Record<string, string> = {}): Promise<void> {
  const settings: Record<string, string> = { ...environment, ...more };
  harness = createHarness(settings);
  provider = await createIdentityProvider({ issuer: settings.MONIKER_OIDC_ISSUER ?? '', clientId: 'moniker', now: harness.clock.now });
  harness.services.identity = createIdentity({
    providers: readIdentityProviders((name) => settings[name] ?? null),
    clock: harness.clock,
    seal: createJsonSeal(createMasterKey('a master key of at least 32 characters'), 'browser-sign-in'),
    nonce: createSignInNonce,
    consumeNonce: (nonce, expiresAt) => harness.catalog.consumeNonce(nonce, expiresAt),
    outbound: async (request) => {
      const { host, pathname, searchParams } = new URL(request.url);
      if (host === 'github.com' || host === 'api.github.com') return Response.json(github(pathname, searchParams));
      if (host === 'graph.microsoft.com') return graph(request);
      return await provider.fetch(request);
    },
  });
}
beforeEach(() => configure());

const get = (path: string, headers: Record<string, string> = {}) =>
  harness.app.request(path.startsWith('http') ? path : `${own}${path}`, { headers });
const cookieIn = (response: Response, name: string): string =>
  response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .find((cookie) => cookie.startsWith(`${name}=`)) ?? '';

async function signIn(claims: Record<string, unknown> = {}, query = ''): Promise<Response> {
  provider.person = { email: 'ada@example.com', email_verified: true, name: 'Ada', ...claims };
  const begun = await get(`/sign-in/oidc?to=/console${query}`);
  const back = provider.approve(begun.headers.get('location') ?? '').href;
  return await get(back + query, { cookie: cookieIn(begun, '__Host-moniker-sign-in') });
}
const meOf = async (response: Response) => await bodyOf(await get('/v1/me', { cookie: cookieIn(response, '__Host-moniker') }));
const members = async () => (await bodyOf(await harness.send('GET', '/v1/members'))).items;
const reasonOf = async (response: Response): Promise<string> => {
  expect(cookieIn(response, '__Host-moniker')).toBe('');
  return /<p class="problem" role="alert">([^<]*)/.exec(await response.text())?.[1] ?? '';
};

describe('groups in an ID token', () => {
  it.each([
    ['one group', ['platform'], { role: 'editor' }],
    ['a text, for one group', 'platform', { role: 'editor' }],
    ['toolsets of all groups with the role', ['support', 'docs', 'unknown'], { role: 'user', toolsets: ['tickets', 'wiki'] }],
    ['the role with the most rights', ['duty', 'support', 'platform'], { role: 'editor' }],
    ['the owner, as the map says so', ['leads', 'support'], { role: 'owner' }],
    [
      'a group among 10,000',
      [...Array.from({ length: 9_999 }, (_, index) => `g${index}`), 'support'],
      { role: 'user', toolsets: ['tickets'] },
    ],
  ])('give a role, for %s', async (_what, groups, rights) => {
    const response = await signIn({ groups });
    expect(response.status).toBe(303);
    const me = await meOf(response);
    expect({ role: me.role, toolsets: me.toolsets ?? undefined }).toEqual({ toolsets: undefined, ...rights });
  });

  it.each([
    ['none of the map', ['others']],
    ['none', []],
    ['no claim', undefined],
    ['another case', ['Platform', 'PLATFORM']],
    ['spaces and invisible characters', [' platform', 'plat\u200Bform', 'platform\u0000', 'pl\u0430tform']],
    ['several in one text', 'platform,leads'],
    ['a pattern', ['*', 'plat*', '.*']],
    ['names of members of objects', ['__proto__', 'constructor', 'toString']],
  ])('give nothing, for %s', async (_what, groups) => {
    expect(await reasonOf(await signIn({ groups }))).toContain('in none of the groups that give a role');
    expect(await members()).toEqual([]);
  });

  it.each([
    [
      'left out since there are too many',
      { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } },
      'too many',
    ],
    ['said to exist', { hasgroups: true }, 'too many'],
    ['numbers', { groups: ['platform', 7] }, 'not a list of names'],
    ['objects', { groups: [{ name: 'platform' }] }, 'not a list of names'],
    ['an object', { groups: { platform: true } }, 'not a list of names'],
  ])('refuse the sign-in when they are %s', async (_what, claims, reason) => {
    expect(await reasonOf(await signIn(claims))).toContain(reason);
    expect(await members()).toEqual([]);
  });

  const forgeries: [what: string, forge: (claims: JWTPayload) => Promise<string>][] = [
    ['is not signed', async (claims) => new UnsecuredJWT(claims).encode()],
    ['is of another issuer', (claims) => provider.sign({ ...claims, iss: 'https://evil.example' })],
    ['is for another client', (claims) => provider.sign({ ...claims, aud: 'another' })],
    ['belongs to another sign-in', (claims) => provider.sign({ ...claims, nonce: 'another' })],
    [
      'is signed with another key',
      async (claims) => {
        const other = await createIdentityProvider({ issuer, clientId: 'moniker', now: harness.clock.now });
        await other.rotate();
        return await other.sign(claims, { kid: provider.key().id });
      },
    ],
  ];
  it.each(forgeries)('give nothing in a token that %s', async (_what, forge) => {
    provider.forge = (claims) => forge({ ...claims, groups: ['leads'] });
    await reasonOf(await signIn({}));
    expect(await members()).toEqual([]);
  });

  it('are not read from the query, and not from headers', async () => {
    const response = await signIn({}, '&groups=leads&group=leads');
    expect(await reasonOf(response)).toContain('in none of the groups');
    const headers = { 'x-groups': 'leads', 'x-forwarded-groups': 'leads', groups: 'leads' };
    expect((await get('/sign-in', headers)).status).toBe(200);
    expect(await members()).toEqual([]);
  });

  it('are of the claim that the setting names', async () => {
    await configure({ MONIKER_OIDC_GROUPS: JSON.stringify({ claim: 'https://acme.example/teams', map }) });
    expect((await meOf(await signIn({ 'https://acme.example/teams': ['platform'], groups: ['leads'] }))).role).toBe('editor');
  });
});

describe('a role by groups', () => {
  it('changes with the groups, and ends with them, also in the browsers that are signed in', async () => {
    const first = await signIn({ groups: ['leads'] });
    expect((await meOf(first)).role).toBe('owner');
    const second = await signIn({ groups: ['support'] });
    expect((await meOf(second)).role).toBe('user');
    await harness.clock.advance(31_000);
    expect((await meOf(first)).role).toBe('user');
    expect(await reasonOf(await signIn({ groups: [] }))).toContain('in none of the groups');
    await harness.clock.advance(31_000);
    expect(await meOf(second)).toMatchObject({ status: 403 });
    expect(await members()).toEqual([]);
  });

  it('ends without another sign-in after its time', async () => {
    await configure({ MONIKER_OIDC_GROUPS: JSON.stringify({ hours: 2, map }) });
    const response = await signIn({ groups: ['platform'] });
    await harness.clock.advance(2 * 3_600_000 - 60_000);
    expect((await meOf(response)).role).toBe('editor');
    await harness.clock.advance(120_000);
    expect(await meOf(response)).toMatchObject({ status: 403 });
    expect((await meOf(await signIn({ groups: ['platform'] }))).role).toBe('editor');
  });

  it('is in the list of members with its groups', async () => {
    await signIn({ groups: ['support', 'others'] });
    expect(await members()).toEqual([
      expect.objectContaining({
        email: 'ada@example.com',
        role: 'user',
        byGroups: { provider: 'oidc', groups: ['support'], until: new Date(harness.clock.now() + 24 * 3_600_000).toISOString() },
      }),
    ]);
  });

  it('leaves a member alone that an owner has written', async () => {
    await harness.send('PUT', '/v1/members/ada', { email: 'ada@example.com', role: 'approver' });
    expect((await meOf(await signIn({ groups: ['leads'] }))).role).toBe('approver');
    expect((await meOf(await signIn({ groups: [] }))).role).toBe('approver');
  });

  it('is not given while the setting cannot be read, and the setting is named', async () => {
    for (const text of [
      '{',
      '{"map": []}',
      '{"map": [{"group": "a", "role": "root"}]}',
      '{"map": [{"group": "a", "role": "owner", "toolsets": ["x"]}]}',
    ]) {
      await configure({ MONIKER_OIDC_GROUPS: text });
      const response = await get('/sign-in/oidc');
      expect(response.status).toBe(503);
      expect(await reasonOf(response)).toContain('MONIKER_OIDC_GROUPS cannot be read');
    }
  });
});

describe('teams at GitHub', () => {
  const person = (path: string): unknown => {
    if (path === '/login/oauth/access_token') return { access_token: 'gho_token' };
    if (path === '/user/emails') return [{ email: 'ada@example.com', primary: true, verified: true }];
    return path === '/user' ? { login: 'ada' } : [];
  };
  const back = async (): Promise<Response> => {
    const begun = await get('/sign-in/github?to=/console');
    const url = new URL(begun.headers.get('location') ?? '');
    expect(url.searchParams.get('scope')).toBe('read:user user:email read:org');
    return await get(`/sign-in/github/callback?code=c&state=${url.searchParams.get('state')}`, {
      cookie: cookieIn(begun, '__Host-moniker-sign-in'),
    });
  };
  const team = (slug: string) => ({ slug, organization: { login: 'Acme' } });

  it('are read from all pages', async () => {
    github = (path, query) => {
      if (path !== '/user/teams') return person(path);
      return query.get('page') === '1' ? Array.from({ length: 100 }, (_, index) => team(`t${index}`)) : [team('platform')];
    };
    expect((await meOf(await back())).role).toBe('editor');
  });

  it('and active memberships of organizations give roles, invitations do not', async () => {
    const membership = (state: string) => (path: string) =>
      path === '/user/memberships/orgs' ? [{ state, organization: { login: 'acme' } }] : person(path);
    github = membership('pending');
    expect(await reasonOf(await back())).toContain('in none of the groups');
    github = membership('active');
    expect((await meOf(await back())).role).toBe('user');
  });

  it.each([
    [
      'never end',
      (path: string) => (path === '/user/teams' ? Array.from({ length: 100 }, () => team('platform')) : person(path)),
      'too many teams',
    ],
    ['cannot be read', (path: string) => (path === '/user/teams' ? { message: 'Not Found' } : person(path)), 'did not list'],
  ])('refuse the sign-in when they %s', async (_what, responses, reason) => {
    github = responses;
    expect(await reasonOf(await back())).toContain(reason);
  });
});

describe('groups of Cloudflare Access', () => {
  it('are those of its signed assertion', async () => {
    const seconds = Math.floor(harness.clock.now() / 1_000);
    const claims = { iss: 'https://acme.cloudflareaccess.com', aud: ['access audience'], sub: 'p', iat: seconds, exp: seconds + 3_600 };
    const assertion = async (more: JWTPayload) => ({
      'cf-access-jwt-assertion': await provider.sign({ ...claims, email: 'ada@example.com', ...more }),
    });
    expect(await reasonOf(await get('/sign-in', await assertion({})))).toContain('in none of the groups');
    expect((await meOf(await get('/sign-in', await assertion({ custom: { groups: ['platform'] } })))).role).toBe('editor');
  });
});

describe('groups that Entra ID leaves out of the token', () => {
  const entra = 'https://login.microsoftonline.com';
  const lead = '11111111-2222-3333-4444-555555555555';
  const other = '66666666-7777-8888-9999-000000000000';
  const left = { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://evil.example/groups' } } };
  const withGraph = {
    MONIKER_OIDC_ISSUER: entra,
    MONIKER_OIDC_GROUPS: JSON.stringify({ overage: 'graph', map: [{ group: lead, role: 'editor' }] }),
  };
  let asked: { url: string; authorization: string | null; body: unknown }[];

  /** Signs in while Graph responds so. */
  const signInWith = async (response: () => Response, claims: object = left): Promise<Response> => {
    asked = [];
    graph = (request) => {
      asked.push({ url: request.url, authorization: request.headers.get('authorization'), body: request.method });
      return response();
    };
    return await signIn({ ...claims });
  };
  const ids =
    (value: unknown, more: object = {}) =>
    () =>
      Response.json({ value, ...more });

  it('are read from Graph with the token of the person, and never from the place that the token names', async () => {
    await configure(withGraph);
    expect((await meOf(await signInWith(ids([other, lead.toUpperCase()])))).role).toBe('editor');
    expect(asked).toEqual([{ url: 'https://graph.microsoft.com/v1.0/me/getMemberObjects', authorization: 'Bearer access', body: 'POST' }]);
    const begun = await get('/sign-in/oidc');
    expect(new URL(begun.headers.get('location') ?? '').searchParams.get('scope')).toBe(
      'openid email profile https://graph.microsoft.com/User.Read',
    );
    expect(await reasonOf(await signInWith(ids([other])))).toContain('in none of the groups');
  });

  it('are not asked for when the token has groups, or says nothing of them', async () => {
    await configure(withGraph);
    expect((await meOf(await signInWith(ids([]), { groups: [lead] }))).role).toBe('editor');
    expect(await reasonOf(await signInWith(ids([lead]), {}))).toContain('in none of the groups');
    expect(asked).toEqual([]);
  });

  it.each([
    ['refuses', () => new Response('{}', { status: 403 }), 'delegated permission User.Read'],
    ['has more pages', ids([lead], { '@odata.nextLink': 'https://evil.example/next' }), 'did not list them all'],
    ['sends no list', () => Response.json({ error: { code: 'x' } }), 'did not list them all'],
    ['sends other than ids', ids([lead, { id: lead }]), 'did not list them all'],
    ['sends no JSON', () => new Response('<html>'), 'did not list them all'],
    ['sends too much', ids(Array.from({ length: 20_000 }, () => lead)), 'too large'],
    ['redirects', () => Response.redirect('https://evil.example/', 302), 'responded with 302'],
  ])('refuse the sign-in when Graph %s', async (_what, response, reason) => {
    await configure(withGraph);
    expect(await reasonOf(await signInWith(response))).toContain(reason);
    expect(await members()).toEqual([]);
  });

  it('refuse the sign-in without the setting, and say what to do', async () => {
    await configure({ ...withGraph, MONIKER_OIDC_GROUPS: JSON.stringify({ map: [{ group: lead, role: 'editor' }] }) });
    expect(await reasonOf(await signInWith(ids([lead])))).toContain('overage');
    expect(asked).toEqual([]);
  });

  it('are not in a setting with names of groups, or of another provider', async () => {
    await configure({
      ...withGraph,
      MONIKER_OIDC_GROUPS: JSON.stringify({ overage: 'graph', map: [{ group: 'platform', role: 'editor' }] }),
    });
    expect(await reasonOf(await get('/sign-in/oidc'))).toContain('object ids');
    await configure({ ...withGraph, MONIKER_OIDC_ISSUER: 'https://login.microsoftonline.com.evil.example' });
    expect(await reasonOf(await get('/sign-in/oidc'))).toContain('is for groups of Entra ID');
  });
});

describe('groups of several workspaces', () => {
  const user = { id: 'a'.repeat(64), name: 'Ada', email: 'ada@example.com' };
  const groupMap = {
    claim: 'groups',
    hours: 24,
    map: [
      { group: 'all', role: 'user' },
      { group: 'lab', role: 'owner', workspace: 'lab' },
      { group: 'gone', role: 'owner', workspace: 'gone' },
    ],
  };
  const mapOf = (given: object) => readGroupMap({ groups: { setting: 'X', text: JSON.stringify(given) } }) as GroupMap;

  /** Members of each workspace, as `writeGroupMembers` writes them. */
  const desk = () => {
    const workspaces = new Map<string, Map<string, Record<string, unknown>>>([
      ['default', new Map()],
      ['lab', new Map()],
      ['old', new Map()],
    ]);
    const opened: string[] = [];
    const errors: unknown[] = [];
    const services = {
      people: {
        workspaces: async () => [...workspaces].filter(([, stored]) => stored.size > 0).map(([workspace]) => ({ workspace, role: 'user' })),
        member: async () => null,
      },
      directory: { workspaceStatus: async (name: string) => (workspaces.has(name) ? 'active' : null) },
      clock: { now: () => 0 },
      log: { info: () => undefined, error: (_message: string, fields: unknown) => errors.push(fields) },
      catalog: ({ workspace, keyId }: { workspace: string; keyId: string }) => {
        opened.push(`${workspace} ${keyId}`);
        const stored = workspaces.get(workspace);
        if (stored === undefined) throw new Error('a Catalog of an unknown workspace was opened');
        return {
          get: async (_kind: string, name: string) => {
            const body = stored.get(name);
            if (body === undefined) throw new Problem('not_found', 'none');
            return { body };
          },
          put: async (_kind: string, name: string, body: Record<string, unknown>) => void stored.set(name, body),
          remove: async (_kind: string, name: string) => void stored.delete(name),
          memberRights: async () => (stored.size > 0 ? {} : null),
        };
      },
    };
    return {
      workspaces,
      errors,
      opened,
      signIn: async (names: string[], given: object = groupMap) =>
        await writeGroupMembers(services as never, {
          user,
          email: user.email,
          provider: 'oidc',
          byGroups: rightsOfGroups(mapOf(given), names),
        }),
      roles: () => Object.fromEntries([...workspaces].map(([name, stored]) => [name, [...stored.values()].map(({ role }) => role)])),
    };
  };

  it('give a role in each workspace, and none in others', async () => {
    const { signIn: enter, roles, opened } = desk();
    expect(await enter(['lab'])).toBe(true);
    expect(roles()).toEqual({ default: [], lab: ['owner'], old: [] });
    expect(await enter(['all', 'lab'])).toBe(true);
    expect(roles()).toEqual({ default: ['user'], lab: ['owner'], old: [] });
    expect(await enter([])).toBe(false);
    expect(roles()).toEqual({ default: [], lab: [], old: [] });
    expect(new Set(opened)).toEqual(new Set(['default system', 'lab system']));
  });

  it('take away what a workspace gave that the map names no more', async () => {
    const { signIn: enter, roles } = desk();
    await enter(['all', 'x'], { map: [...groupMap.map, { group: 'x', role: 'editor', workspace: 'old' }] });
    expect(roles()).toEqual({ default: ['user'], lab: [], old: ['editor'] });
    await enter(['all', 'x']);
    expect(roles()).toEqual({ default: ['user'], lab: [], old: [] });
  });

  it('leave members alone that someone has written in that workspace', async () => {
    const { signIn: enter, workspaces, roles } = desk();
    workspaces.get('lab')?.set('ada', { email: user.email, role: 'approver' });
    await enter(['lab']);
    expect(roles().lab).toEqual(['approver']);
  });

  it('give nothing in a workspace that does not exist, which is not opened, and the log names it', async () => {
    const { signIn: enter, roles, errors } = desk();
    expect(await enter(['gone'])).toBe(false);
    expect(roles()).toEqual({ default: [], lab: [], old: [] });
    expect(errors).toEqual([{ workspace: 'gone', provider: 'oidc', groups: ['gone'] }]);
  });

  it('are not read from a setting with a name that no workspace can have, or with too many', () => {
    for (const workspaces of [['../default'], ['Default'], Array.from({ length: 51 }, (_, index) => `w${index}`)]) {
      const rows = workspaces.map((workspace) => ({ group: 'g', role: 'user', workspace }));
      expect(() => mapOf({ map: rows })).toThrow('cannot be read');
    }
  });
});
