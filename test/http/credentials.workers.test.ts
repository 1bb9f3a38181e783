/** Each cell of the table in docs/credentials.md: what a credential makes ends with it, and with nothing else. */
import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { userIdOf } from '../../src/core/people/person.ts';
import { keyIdOfUser } from '../../src/core/people/principal.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import { createCatalogClient } from '../../src/objects/catalog/client/catalog-client.ts';
import { objectName } from '../../src/storage/keys.ts';
import { keyPurposes } from '../../src/storage/keys/master-key.ts';
import { sample } from '../selection.ts';
import { testEnv } from '../storage/workspace.ts';
import { waitUntil } from '../wait-for.ts';
import {
  authorizeQuery,
  consent,
  createServiceOf,
  type Fetch,
  listTools,
  publicUrl,
  redeemCode,
  register,
  rootKey,
} from './oauth-client.ts';
import { allowErrors } from '../service-errors.ts';

const pages = import.meta.glob<string>('../../docs/credentials.md', { eager: true, query: '?raw', import: 'default' });
const page = Object.values(pages)[0] ?? '';

const issuer = 'https://issuer.example.com';
/** The authorization server of the MCP server that people sign in to. */
const network = {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/.well-known/oauth-authorization-server'))
      return Response.json({
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token`, response_types_supported: ['code'] },
        ...{ code_challenge_methods_supported: ['S256'], token_endpoint_auth_methods_supported: ['none'] },
      });
    if (pathname === '/token') return Response.json({ access_token: 'token', token_type: 'Bearer' });
    return new Response('none', { status: 404 });
  },
} as unknown as NonNullable<Bindings['PUBLIC_NETWORK']>;

// Sessions of a deleted workspace try to send their last rows until they are deleted too.
allowErrors('audit rows could not be sent; it will be retried', 'a deletion of a session is not finished yet');

const provider = { MONIKER_GITHUB_CLIENT_ID: 'id', MONIKER_GITHUB_CLIENT_SECRET: 'secret' };
const isolate = (env: Partial<Bindings> = {}) => createServiceOf({ PUBLIC_NETWORK: network, ...provider, ...env });
const { service, people } = isolate();
/** The objects have the current root key, so what another isolate makes with this one is of an earlier key. */
const earlierRootKey = 'the-root-key-of-before-of-at-least-32-characters';

type World = { workspace: string; root: Record<string, string>; service: Fetch; cookie(): Promise<string> };
/** `key`, `person`: what it was made with. `cookie`: of the sign-in that it was made in. */
type Thing = {
  isValid(at: Fetch): Promise<boolean>;
  key?: { id: string; text: string };
  email?: string;
  cookie?: string;
};
type Event = (world: World, thing: Thing) => Promise<Fetch | undefined>;

const json = (headers: Record<string, string>, body?: unknown, method = 'POST'): RequestInit => ({
  method,
  headers: { ...headers, 'content-type': 'application/json' },
  ...(body !== undefined && { body: JSON.stringify(body) }),
});
const formOf = (fields: Record<string, string>, cookie = ''): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', cookie },
  body: new URLSearchParams(fields).toString(),
});
const own = (cookie: string, workspace?: string) => ({
  headers: { cookie, 'sec-fetch-site': 'same-origin', ...(workspace !== undefined && { 'x-moniker-workspace': workspace }) },
});

async function jsonOf(response: Response): Promise<Record<string, never>> {
  const text = await response.text();
  expect(response.ok, `${response.status} ${text}`).toBe(true);
  return text === '' ? {} : JSON.parse(text);
}

const signInServer = { kind: 'mcp', url: `${issuer}/mcp`, oauth: { grant: 'authorization_code', clientId: 'ours' } };

let count = 0;
/** Requests of the root key are made with an earlier one, if `isEarlier`. */
async function worldOf(workspace: string, isEarlier = false): Promise<World> {
  const key = isEarlier ? earlierRootKey : rootKey;
  const at = isEarlier ? isolate({ MONIKER_ROOT_KEY: earlierRootKey }).service : service;
  const root = { authorization: `Bearer ${key}`, 'x-moniker-workspace': workspace };
  const cookie = async () => (await at('/sign-in', formOf({ key, to: '/' }))).headers.get('set-cookie')?.split(';')[0] ?? '';
  return { workspace, root, service: at, cookie };
}

async function createWorkspace(): Promise<string> {
  count += 1;
  const workspace = `credentials-${count}`;
  const admin = { authorization: `Bearer ${rootKey}` };
  await jsonOf(await service(`/v1/workspaces/${workspace}`, json(admin, {}, 'PUT')));
  const inside = { ...admin, 'x-moniker-workspace': workspace };
  const tools = [{ tool: 'builtin.bash', name: 'shell', approval: 'always' }];
  await jsonOf(await service('/v1/toolsets/demo', json(inside, { tools }, 'PUT')));
  await jsonOf(await service('/v1/servers/docs', json(inside, signInServer, 'PUT')));
  return workspace;
}

async function createKey(world: World) {
  const body = { name: 'made', scopes: ['chat', 'tools', 'approve', 'admin'] };
  const { id, key } = await jsonOf(await world.service('/v1/keys', json(world.root, body)));
  return { id: String(id), text: String(key) };
}
const bearer = (text: string) => ({ authorization: `Bearer ${text}` });

/** Owners of the shared workspace that no test has used: a membership is known everywhere after a second. */
const unused: string[] = [];
const addMember = async (email: string, workspace: string, role: string): Promise<void> => {
  const inside = { authorization: `Bearer ${rootKey}`, 'x-moniker-workspace': workspace };
  await jsonOf(await service(memberPath(email), json(inside, { email, role }, 'PUT')));
};
const userOf = async (email: string) => ({ id: await userIdOf(email), name: email, email });

/** Returns a member, who has signed in with a browser. */
async function addPerson({ workspace }: World, role = 'owner') {
  count += 1;
  const known = workspace === shared ? unused.pop() : undefined;
  const email = known ?? `person-${count}@example.com`;
  if (known === undefined || role !== 'owner') await addMember(email, workspace, role);
  const user = await userOf(email);
  if (known === undefined) await waitUntil(async () => (await isolate().people.workspaces(user)).length > 0);
  return { email, cookie: `__Host-moniker=${await people.begin({ user, provider: 'github' })}` };
}

async function mcpClient(world: World, cookie: string): Promise<Thing['isValid']> {
  count += 1;
  const path = `/mcp/${world.workspace}/demo`;
  const resource = `${publicUrl}${path}`;
  const { client_id: client } = await register(world.service, { client_name: `Client ${count}` });
  const { returned } = await consent(world.service, cookie, await authorizeQuery(client, { resource }));
  const { body } = await redeemCode(world.service, client, returned.get('code') ?? '', { resource });
  return async (at) => (await listTools(at, body.access_token ?? '', path)).ok;
}

/** A link that decides a call which waits, made with these credentials. */
async function approvalLink(world: World, headers: Record<string, string>): Promise<Thing['isValid']> {
  const { id } = await jsonOf(await service('/v1/sessions', json(rootOf(world), { model: 'rehearsal/default', toolset: 'demo' })));
  await jsonOf(await service(`/v1/sessions/${id}/turns`, json(rootOf(world), { input: '/shell date' })));
  const { items } = await jsonOf(await service(`/v1/sessions/${id}/approvals`, { headers: rootOf(world) }));
  const callId = (items as unknown as { callId: string }[])[0]?.callId;
  const { url } = await jsonOf(await world.service(`/v1/sessions/${id}/approvals/${callId}/link`, json(headers)));
  return async (at) => (await at(new URL(url ?? '').pathname, { headers: { accept: 'application/json' } })).ok;
}
const rootOf = ({ workspace }: World) => ({ authorization: `Bearer ${rootKey}`, 'x-moniker-workspace': workspace });

/** A server has one sign-in at a time. */
async function serverSignIn(world: World, headers: Record<string, string>): Promise<Thing['isValid']> {
  count += 1;
  const path = `/v1/servers/docs-${count}`;
  await jsonOf(await service(path, json(rootOf(world), signInServer, 'PUT')));
  const { authorizationUrl } = await jsonOf(await world.service(`${path}/authorize`, json(headers)));
  const state = new URL(authorizationUrl ?? '').searchParams.get('state') ?? '';
  return async (at) => (await at(`/oauth/callback?${new URLSearchParams({ state, code: 'code' })}`)).ok;
}

async function mcpSession(world: World, key: { text: string }): Promise<Thing['isValid']> {
  const path = `/mcp/${world.workspace}/demo`;
  const mcp = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'client', version: '1' } };
  const begun = await service(path, json({ ...bearer(key.text), ...mcp }, { jsonrpc: '2.0', id: 1, method: 'initialize', params }));
  await begun.text();
  const session = begun.headers.get('mcp-session-id') ?? '';
  expect(session).not.toBe('');
  return async (at) => {
    // With the newest secret.
    const headers = { ...bearer(key.text), ...mcp, 'mcp-session-id': session };
    const response = await at(path, json(headers, { jsonrpc: '2.0', id: 2, method: 'tools/list' }));
    await response.text();
    return response.ok;
  };
}

const kinds: Readonly<Record<string, (world: World) => Promise<Thing>>> = {
  'API key': async (world) => {
    const key = await createKey(world);
    return { key, isValid: async (at) => (await at('/v1/me', { headers: bearer(key.text) })).ok };
  },
  'earlier secret of an API key': async (world) => {
    const key = await createKey(world);
    await jsonOf(await service(`/v1/keys/${key.id}/rotate`, json(rootOf(world), { overlapSeconds: 3_600 })));
    return { key: { ...key, text: '' }, isValid: async (at) => (await at('/v1/me', { headers: bearer(key.text) })).ok };
  },
  'browser sign-in with the root key': async (world) => {
    const cookie = await world.cookie();
    return { cookie, isValid: async (at) => (await at('/v1/me', own(cookie))).ok };
  },
  'browser sign-in of a person': async (world) => {
    const person = await addPerson(world);
    return { ...person, isValid: async (at) => (await at('/v1/me', own(person.cookie, world.workspace))).ok };
  },
  'MCP client of the root key': async (world) => {
    const cookie = await world.cookie();
    return { cookie, isValid: await mcpClient(world, cookie) };
  },
  'MCP client of a person': async (world) => {
    const person = await addPerson(world);
    return { ...person, isValid: await mcpClient(world, person.cookie) };
  },
  'approval link of the root key': async (world) => {
    const cookie = await world.cookie();
    const [byCookie, byKey] = [await approvalLink(world, own(cookie, world.workspace).headers), await approvalLink(world, world.root)];
    return { cookie, isValid: async (at) => both(await byCookie(at), await byKey(at)) };
  },
  'approval link of an API key': async (world) => {
    const key = await createKey(world);
    return { key, isValid: await approvalLink(world, bearer(key.text)) };
  },
  'approval link of a person': async (world) => {
    const person = await addPerson(world, 'approver');
    return { ...person, isValid: await approvalLink(world, own(person.cookie, world.workspace).headers) };
  },
  'sign-in at a server, begun with the root key': async (world) => ({ isValid: await serverSignIn(world, world.root) }),
  'sign-in at a server, begun with an API key': async (world) => {
    const key = await createKey(world);
    return { key, isValid: await serverSignIn(world, bearer(key.text)) };
  },
  'account at a server': async (world) => {
    const key = await createKey(world);
    const person = await addPerson(world);
    const owners = [key.id, keyIdOfUser(await userIdOf(person.email))];
    for (const owner of owners)
      await createCatalogClient(testEnv, world.workspace).saveServerGrant('docs', { value: '{}', revision: 0, isConnected: true }, owner);
    const stored = async (owner = ''): Promise<boolean> =>
      (
        await createCatalogClient(testEnv, world.workspace)
          .serverGrant('docs', owner)
          .catch(() => ({ value: null }))
      ).value !== null;
    // Of the one that an event ends, as far as it is about one of them.
    return {
      ...person,
      key,
      isValid: async () => {
        const [ofKey, ofPerson] = [await stored(owners[0]), await stored(owners[1])];
        return ofKey && ofPerson;
      },
    };
  },
  'MCP session': async (world) => {
    const key = await createKey(world);
    return { key, isValid: await mcpSession(world, key) };
  },
};

function both(one: boolean, other: boolean): boolean {
  expect(one).toBe(other);
  return one;
}

const memberPath = (email = '') => `/v1/members/${email.split('@')[0]}`;
const events: Readonly<Record<string, Event>> = {
  'root key changed': async () => undefined,
  'key revoked or expired': async (world, { key }) => {
    await jsonOf(await service(`/v1/keys/${key?.id}`, json(rootOf(world), undefined, 'DELETE')));
    return undefined;
  },
  'secret rotated away': async (world, { key }) => {
    const rotated = await jsonOf(await service(`/v1/keys/${key?.id}/rotate`, json(rootOf(world), { overlapSeconds: 0 })));
    if (key !== undefined) key.text = String(rotated.key);
    return undefined;
  },
  'right taken away': async (world, { key, email }) => {
    if (key !== undefined) await jsonOf(await service(`/v1/keys/${key.id}`, json(rootOf(world), { scopes: ['chat'] }, 'PATCH')));
    else await jsonOf(await service(memberPath(email), json(rootOf(world), { email, role: 'user' }, 'PUT')));
    return undefined;
  },
  'member removed': async (world, { email }) => {
    await jsonOf(await service(memberPath(email), json(rootOf(world), undefined, 'DELETE')));
    return undefined;
  },
  'provider removed': async () => isolate({ MONIKER_GITHUB_CLIENT_ID: '', MONIKER_GITHUB_CLIENT_SECRET: '' }).service,
  'signed out': async (_world, { cookie }) => {
    expect((await service('/sign-out', formOf({}, cookie))).status).toBe(303);
    return undefined;
  },
  // Once for all kinds, below.
  'workspace deleted': async () => undefined,
  'master key replaced': async () => isolate({ MONIKER_MASTER_KEY: 'another master key of at least 32 characters' }).service,
};

const [heading = [], ...rows] = tableIn(page, '## What ends each');
/** The key of the objects cannot be replaced in these tests: `test/objects/catalog/keys/reseal.workers.test.ts` has the same for the database. */
const untested = new Set(['account at a server, master key replaced']);

const cells = rows.flatMap(([kind = '', ...effects]) =>
  effects.flatMap((effect, index) => {
    const event = heading[index + 1] ?? '';
    return effect === '–' || untested.has(`${kind}, ${event}`) ? [] : [{ kind, event, effect }];
  }),
);

it('the table has exactly the kinds and events that are tested, and each kind has a row about what it descends from', () => {
  expect(rows.map(([kind]) => kind)).toEqual(Object.keys(kinds));
  expect(heading.slice(1)).toEqual(Object.keys(events));
  const described = tableIn(page, '## Kinds').map(([kind]) => kind);
  expect(described.slice(2)).toEqual(Object.keys(kinds));
  for (const [kind, ...effects] of rows) expect([kind, ...effects.filter((effect) => !/^(ends|stays|–)$/.test(effect))]).toEqual([kind]);
});

it('every purpose for which a value is signed has a row that says whether the value grants access', () => {
  const signed = tableIn(page, '## What is signed').map(([, key = '']) => key);
  expect(keyPurposes.filter((purpose) => !signed.some((key) => key.includes(`\`${purpose}\``)))).toEqual([]);
});

const make = async (kind: string, world: World): Promise<Thing> => {
  const thing = await kinds[kind]?.(world);
  if (thing === undefined) throw new Error(`There is no kind ${kind}.`);
  return thing;
};

const single = cells.filter(({ event }) => event !== 'workspace deleted');
const inSample: readonly string[] = ['root key changed', 'secret rotated away', 'member removed'];

describe.each(sample('credentials', single, ({ event }) => inSample.includes(event)))('$kind, $event', ({ kind, event, effect }) => {
  it(effect, async () => {
    const world = await worldOf(shared, event === 'root key changed');
    const thing = await make(kind, world);
    // A sign-in at a server works once.
    if (!kind.startsWith('sign-in at') && event !== 'root key changed') expect(await thing.isValid(isolate().service)).toBe(true);
    const at = (await events[event]?.(world, thing)) ?? isolate().service;
    expect(await thing.isValid(at)).toBe(effect === 'stays');
    if (event !== 'member removed' || thing.email === undefined || kind.startsWith('browser')) return;
    await jsonOf(await service(memberPath(thing.email), json(rootOf(world), { email: thing.email, role: 'owner' }, 'PUT')));
    expect(await thing.isValid(isolate().service)).toBe(false);
  });
});

it('everything of a workspace ends when it is deleted', async () => {
  const ofDeleted = cells.filter(({ event }) => event === 'workspace deleted');
  const world = await worldOf(await createWorkspace());
  const made = await Promise.all(ofDeleted.map(async ({ kind }) => ({ kind, thing: await make(kind, world) })));
  const probe = await make('API key', world);
  await jsonOf(await service(`/v1/workspaces/${world.workspace}`, json({ authorization: `Bearer ${rootKey}` }, undefined, 'DELETE')));
  await waitUntil(async () => !(await probe.isValid(isolate().service)));
  const valid = await Promise.all(made.map(async ({ kind, thing }) => ({ kind, isValid: await thing.isValid(isolate().service) })));
  expect(valid).toEqual(ofDeleted.map(({ kind, effect }) => ({ kind, isValid: effect === 'stays' })));
});

it.each([
  'API key',
  'earlier secret of an API key',
  'approval link of an API key',
  'sign-in at a server, begun with an API key',
  'MCP session',
])('%s ends when the key expires', async (kind) => {
  const world = await worldOf(shared);
  const thing = await make(kind, world);
  const object = testEnv.CATALOG.get(testEnv.CATALOG.idFromName(await objectName(shared, 'catalog', '')));
  await runInDurableObject(object, (_, state) => {
    state.storage.sql.exec('UPDATE keys SET expires_at = 1 WHERE id = ?', thing.key?.id);
  });
  expect(await thing.isValid(isolate().service)).toBe(false);
});

it('what was made in the overlap of a rotation ends with the last secret of that time', async () => {
  const world = await worldOf(shared);
  const key = await createKey(world);
  const early = await approvalLink(world, bearer(key.text));
  await jsonOf(await service(`/v1/keys/${key.id}/rotate`, json(rootOf(world), { overlapSeconds: 3_600 })));
  const byEarlier = await approvalLink(world, bearer(key.text));
  expect([await early(isolate().service), await byEarlier(isolate().service)]).toEqual([true, true]);
  await jsonOf(await service(`/v1/keys/${key.id}/rotate`, json(rootOf(world), { overlapSeconds: 0 })));
  expect([await early(isolate().service), await byEarlier(isolate().service)]).toEqual([false, false]);
});

let shared = '';
beforeAll(async () => {
  shared = await createWorkspace();
  unused.push(...Array.from({ length: 40 }, (_, index) => `owner-${index}@example.com`));
  for (const email of unused) await addMember(email, shared, 'owner');
  const last = await userOf(unused.at(-1) ?? '');
  await waitUntil(async () => (await isolate().people.workspaces(last)).length > 0);
});

/** The cells of the first table after a heading, with its own heading as the first row. */
function tableIn(text: string, title: string): string[][] {
  const after = text.slice(text.indexOf(`${title}\n`)).split('\n');
  const start = after.findIndex((line) => line.startsWith('|'));
  const lines = after.slice(start);
  const end = lines.findIndex((line) => !line.startsWith('|'));
  const cellsOf = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  return [lines[0], ...lines.slice(2, end)].map((line) => cellsOf(line ?? ''));
}
