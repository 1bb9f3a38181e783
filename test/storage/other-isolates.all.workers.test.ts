/** What one isolate writes, as it and others see it: at once, and within the documented times. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits/limits.ts';
import type { Problem } from '../../src/core/problem.ts';
import type { Plan } from '../../src/core/turn/plan.ts';
import { readNewestMade } from '../../src/engine/plan/newest-made.ts';
import { readTurnNames } from '../../src/engine/plan/plan-names.ts';
import { planTurn } from '../../src/engine/plan/plan-turn.ts';
import { policyDocument, type DocumentKind } from '../../src/ports/catalog.ts';
import type { Bindings } from '../../src/storage/bindings.ts';
import type { IsolateDirectory } from '../../src/storage/published/directory.ts';
import { kvKeys } from '../../src/storage/keys.ts';
import { changeEnv, emptyWorkspace, testEnv } from './workspace.ts';
import { waitFor } from '../wait-for.ts';

const fact = (name: string, description: string) => ({ name, description, inputSchema: { type: 'object' } });
const server = (...tools: Record<string, unknown>[]) => ({
  kind: 'static',
  updates: 'review',
  url: 'https://tools.example.com/call',
  tools,
});
const skill = (text: string) => ({ content: `---\nname: git\ndescription: Uses git.\n---\n${text}` });
const camera = { label: 'Camera', description: 'Takes a photo.', category: 'upload', triggers: [] };

/** KV that returns, from a switch on, the values that it had then. */
function freezableKv() {
  let frozen: Map<string, string | null> | null = null;
  const get = async (key: string, options: { type: 'text' }): Promise<string | null> => {
    const kept = frozen?.get(key);
    if (kept !== undefined) return kept;
    const text = await testEnv.KV.get(key, options);
    // An edition is permanent; a pointer that was never read before is missing.
    const shown = frozen === null || key.startsWith('edition:') ? text : null;
    frozen?.set(key, shown);
    return shown;
  };
  const freeze = async (...keys: string[]): Promise<void> => {
    frozen = new Map(await Promise.all(keys.map(async (key) => [key, await testEnv.KV.get(key)] as const)));
  };
  const thaw = (): void => {
    frozen = null;
  };
  return { KV: { get } as unknown as Bindings['KV'], freeze, thaw };
}

async function revision({ toolset }: IsolateDirectory, workspace: string): Promise<string> {
  const { pointer } = await toolset(workspace, 'daily');
  return `${pointer.version}.${pointer.revision}`;
}

const skillText = async (directory: IsolateDirectory, workspace: string) =>
  (await directory.skill(workspace, 'git')).content.split('\n').at(-1);

describe('the isolate that wrote', () => {
  it('sees the results of servers, accepted and re-bound tools, UI tools and aliases while KV still has the old toolset', async () => {
    const kv = freezableKv();
    const { catalog, directory, isolate, workspace, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('server', 'facts', server(fact('get', 'Reads.')));
    await catalog.put('ui-tool', 'ui.camera', camera);
    await catalog.put('toolset', 'daily', {
      tools: [{ tool: 'facts.get' }, { tool: 'ui.camera' }, { tool: 'builtin.bash', name: 'run' }],
    });
    expect(await revision(directory, workspace)).toBe('1.1');
    await kv.freeze(kvKeys.toolset(workspace, 'daily'));
    const writes: [string, () => Promise<unknown>][] = [
      ['1.2', () => catalog.put('server', 'facts', server(fact('get', 'Reads all.')))],
      ['1.3', () => catalog.acceptTool('facts', 'get')],
      ['1.4', () => catalog.put('ui-tool', 'ui.camera', { ...camera, label: 'Photo' })],
      ['1.5', () => catalog.put('tool-aliases', 'builtin.bash', { aliases: ['terminal'] })],
      ['1.6', () => catalog.put('server', 'facts', server(fact('read', 'Reads all.')))],
      ['2.1', () => catalog.rebindTool('facts', 'get', 'read')],
      ['2.2', () => catalog.remove('ui-tool', 'ui.camera')],
      ['2.3', () => catalog.remove('server', 'facts')],
      ['2.4', () => catalog.put('server', 'facts', server(fact('read', 'Reads all.')))],
    ];
    for (const [expected, write] of writes) {
      await write();
      expect(await revision(directory, workspace)).toBe(expected);
      await clock.advance(limits.publishedTtlMs + 1);
      expect(await revision(directory, workspace), 'also when its cache has expired').toBe(expected);
    }
    expect(await revision(isolate(), workspace)).toBe('1.1');
  });

  it('sees a skill that it wrote while KV still has the old one', async () => {
    const kv = freezableKv();
    const { catalog, directory, workspace, isolate, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('skill', 'git', skill('One.'));
    expect(await skillText(directory, workspace)).toBe('One.');
    await kv.freeze(kvKeys.published('skill', workspace, 'git'));
    await catalog.put('skill', 'git', skill('Two.'));
    expect(await skillText(directory, workspace)).toBe('Two.');
    await clock.advance(limits.publishedTtlMs + 1);
    expect(await skillText(directory, workspace)).toBe('Two.');
    expect(await skillText(isolate(), workspace)).toBe('One.');
    await catalog.remove('skill', 'git');
    await expect(directory.skill(workspace, 'git')).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('skill', 'git', skill('Three.'));
    expect(await skillText(directory, workspace)).toBe('Three.');
  });
});

/** A document, a change of it, and how an isolate sees it. */
type Seen = {
  key: (workspace: string) => string;
  put: [kind: DocumentKind, name: string, before: Record<string, unknown>, after: Record<string, unknown>];
  read: (directory: IsolateDirectory, workspace: string) => Promise<unknown>;
  sees: [before: unknown, after: unknown, removed: unknown];
};

const deny = { decision: 'deny', kind: 'network', host: 'a.example' };
const openai = (path: string) => ({ kind: 'openai-compatible', baseUrl: `https://a.example/${path}`, models: [path] });
const subscription = (event: string) => ({ url: 'https://a.example/hook', secret: 'a secret of sufficient length', events: [event] });

const published: [string, Seen][] = [
  [
    'the policy',
    {
      key: (workspace) => kvKeys.published('rules', workspace, ''),
      put: ['policy', policyDocument, { rules: [] }, { rules: [deny] }],
      read: (directory, workspace) => directory.rules(workspace),
      sees: [[], [deny], []],
    },
  ],
  [
    'a provider',
    {
      key: (workspace) => kvKeys.published('provider', workspace, 'llm'),
      put: ['provider', 'llm', openai('one'), openai('two')],
      read: async (directory, workspace) => (await directory.provider(workspace, 'llm')).baseUrl,
      sees: ['https://a.example/one', 'https://a.example/two', 'model_not_found'],
    },
  ],
  [
    'the list of providers',
    {
      key: (workspace) => kvKeys.published('providers', workspace, ''),
      put: ['provider', 'llm', openai('one'), openai('two')],
      read: async (directory, workspace) => (await directory.providers(workspace)).find(({ name }) => name === 'llm')?.models,
      sees: [['one'], ['two'], undefined],
    },
  ],
  [
    'a secret',
    {
      key: (workspace) => kvKeys.published('secret', workspace, 'KEY'),
      put: ['secret', 'KEY', { value: 'the first value', hosts: ['a.example'] }, { value: 'the second value', hosts: ['a.example'] }],
      read: (directory, workspace) => directory.secret(workspace, 'KEY', { host: 'a.example' }),
      sees: ['the first value', 'the second value', 'not_found'],
    },
  ],
  [
    'a model alias',
    {
      key: (workspace) => kvKeys.published('model-aliases', workspace, ''),
      put: ['model-alias', 'fast', { model: 'llm/one' }, { model: 'llm/two' }],
      read: (directory, workspace) => directory.modelAliases(workspace),
      sees: [[{ name: 'fast', model: 'llm/one' }], [{ name: 'fast', model: 'llm/two' }], []],
    },
  ],
  [
    'a subscription',
    {
      key: (workspace) => kvKeys.published('subscriptions', workspace, ''),
      put: ['subscription', 'ops', subscription('turn.completed'), subscription('turn.failed')],
      read: (directory, workspace) => directory.subscriptions(workspace),
      sees: [[{ events: ['turn.completed'] }], [{ events: ['turn.failed'] }], []],
    },
  ],
  [
    'a server',
    {
      key: (workspace) => kvKeys.published('server', workspace, 'facts'),
      put: ['server', 'facts', server(fact('get', 'Reads.')), { ...server(fact('get', 'Reads.')), trusted: true }],
      read: async (directory, workspace) => (await directory.server(workspace, 'facts')).trusted,
      sees: [false, true, 'not_found'],
    },
  ],
  [
    'what was revoked from a toolset',
    {
      key: (workspace) => kvKeys.toolset(workspace, 'daily'),
      put: [
        'toolset',
        'daily',
        { tools: [{ tool: 'builtin.bash' }, { tool: 'builtin.read_file' }] },
        { tools: [{ tool: 'builtin.read_file' }], revoked: ['builtin.bash'] },
      ],
      read: async (directory, workspace) => (await directory.toolset(workspace, 'daily')).standing,
      sees: [{}, { revoked: ['builtin.bash'] }, 'not_found'],
    },
  ],
];

describe.each(published)('%s', (_what, { key, put, read, sees }) => {
  it('is seen as it is where it was written, and as KV has it elsewhere, without the Catalog', async () => {
    const kv = freezableKv();
    const { catalog, directory, isolate, workspace, bindings, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    const seenBy = async (reader: IsolateDirectory): Promise<unknown> =>
      await read(reader, workspace).catch((error: unknown) => (error as Problem).code);
    const [kind, name, before, after] = put;
    await catalog.put(kind, name, before);
    await waitFor(async () => expect(await testEnv.KV.get(key(workspace))).not.toBeNull());
    await kv.freeze(key(workspace));
    await catalog.put(kind, name, after);
    expect(await seenBy(directory)).toEqual(sees[1]);
    await clock.advance(limits.publishedTtlMs);
    expect(await seenBy(directory)).toEqual(sees[1]);
    const { CATALOG } = bindings;
    // Only what a call uses; it fails if it is used.
    bindings.CATALOG = { idFromName: () => 'none', get: () => ({ run: () => Promise.reject(new Error('was asked')) }) } as never;
    expect(await seenBy(isolate())).toEqual(sees[0]);
    bindings.CATALOG = CATALOG;
    await catalog.remove(kind, name);
    expect(await seenBy(directory)).toEqual(sees[2]);
    kv.thaw();
    await waitFor(async () => expect(await seenBy(isolate())).toEqual(sees[2]));
  });
});

it('a tool that a session made is offered in its next turn, which another isolate planned', async () => {
  const kv = freezableKv();
  const { catalog, directory, isolate, workspace, clock, log } = await emptyWorkspace({ env: { KV: kv.KV } });
  const principal = { workspace, keyId: 'k1', scopes: ['chat' as const] };
  await catalog.put('agent', 'maker', { model: 'rehearsal/default', made: true });
  const tool = { description: 'Adds.', parameters: [], implementation: 'return 1;' };
  await catalog.put('made-tool', 'made.one', tool);
  const elsewhere = isolate();
  const planned = () => planTurn({ directory: elsewhere, aliases: true, telemetry: null }, principal, { agent: 'maker' });
  await kv.freeze(kvKeys.toolset(workspace, '.made'), kvKeys.published('agent', workspace, 'maker'));
  await catalog.put('made-tool', 'made.two', tool);
  const names = async (plan: Plan) => (await readTurnNames(directory, workspace, plan, 'k1'))?.tools.map(({ canonical }) => canonical);
  expect(await names(await planned())).toEqual(['made.one']);
  const now = clock.now();
  const inSession = { openedAt: now, createdAt: now };
  const newest = await readNewestMade({ directory, log, clock }, principal, inSession, await planned());
  expect(await names(newest)).toEqual(['made.one', 'made.two']);
  // The object of the session was moved to an isolate that wrote nothing.
  const moved = { openedAt: now, createdAt: now - limits.freshReadMs };
  const asked = await readNewestMade({ directory: elsewhere, log, clock }, principal, moved, await planned());
  expect(await names(asked)).toEqual(['made.one', 'made.two']);
  // The client's tool of this name is the client's.
  const clientTools = [{ name: 'two', description: '', inputSchema: {} }];
  const own = await readNewestMade({ directory, log, clock }, principal, inSession, { ...(await planned()), clientTools });
  expect(await names(own)).toEqual(['made.one', 'client.two']);
});

describe('another isolate', () => {
  it('learns of a hold and of its end when its server cache expires, whatever KV has of the toolset', async () => {
    const kv = freezableKv();
    const { catalog, isolate, workspace, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    const reader = isolate();
    const held = async () => (await reader.server(workspace, 'facts')).held;
    await expect(held()).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('server', 'facts', server(fact('get', 'Reads.')));
    await clock.advance(limits.missTtlMs);
    expect(await held()).toEqual([]);
    await catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get' }] });
    await kv.freeze(kvKeys.toolset(workspace, 'daily'));
    const writes: [readonly string[] | 'not_found', () => Promise<unknown>][] = [
      [['get'], () => catalog.put('server', 'facts', server(fact('get', 'Reads all.')))],
      [[], () => catalog.acceptTool('facts', 'get')],
      [['get', 'put'], () => catalog.put('server', 'facts', server(fact('put', 'Keeps.')))],
      ['not_found', () => catalog.remove('server', 'facts')],
    ];
    for (const [expected, write] of writes) {
      await write();
      await clock.advance(limits.publishedTtlMs);
      if (expected === 'not_found') await expect(held()).rejects.toMatchObject({ code: expected });
      else expect(await held()).toEqual(expected);
    }
    // Turns that start here still have the old names, and the server's state refuses their calls.
    expect(await revision(reader, workspace)).toBe('1.1');
  });

  it('refuses no call by an outdated server state, which is loaded again', async () => {
    const { catalog, isolate, workspace } = await emptyWorkspace();
    const reader = isolate();
    await expect(reader.server(workspace, 'facts', 'get')).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('server', 'facts', server(fact('get', 'Reads.')));
    expect(await reader.server(workspace, 'facts', 'get')).toMatchObject({ ready: ['get'] });
    await catalog.put('server', 'facts', server(fact('get', 'Reads.'), fact('put', 'Keeps.')));
    await catalog.acceptTool('facts', 'put');
    expect(await reader.server(workspace, 'facts', 'get')).toMatchObject({ ready: ['get'] });
    expect(await reader.server(workspace, 'facts', 'put')).toMatchObject({ ready: ['get', 'put'], held: [] });
  });

  it('has the revisions after a hold when KV has them and its own pointer has expired', async () => {
    const { catalog, isolate, workspace, clock } = await emptyWorkspace();
    await catalog.put('server', 'facts', server(fact('get', 'Reads.')));
    await catalog.put('toolset', 'daily', { tools: [{ tool: 'facts.get' }] });
    const reader = isolate();
    expect(await revision(reader, workspace)).toBe('1.1');
    // A name is published once a second, so the second write may have to wait.
    await catalog.put('server', 'facts', server(fact('get', 'Reads all.')));
    await waitFor(async () =>
      expect(JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, 'daily'))) ?? '')).toMatchObject({ revision: 2 }),
    );
    expect(await revision(reader, workspace)).toBe('1.1');
    await clock.advance(limits.publishedTtlMs);
    expect(await revision(reader, workspace)).toBe('1.2');
  });

  it('caches the absence of a skill for a few seconds only', async () => {
    const { catalog, isolate, workspace, clock } = await emptyWorkspace();
    const reader = isolate();
    await expect(reader.skill(workspace, 'git')).rejects.toMatchObject({ code: 'not_found' });
    await catalog.put('skill', 'git', skill('One.'));
    await clock.advance(limits.missTtlMs);
    expect(await skillText(reader, workspace)).toBe('One.');
  });
});

it('a skill that KV lost is published again, and so is the tombstone of a removed one', async () => {
  const { catalog, isolate, workspace, object } = await emptyWorkspace();
  const key = kvKeys.published('skill', workspace, 'git');
  const inKv = async () => JSON.parse((await testEnv.KV.get(key)) ?? 'null');
  await catalog.put('skill', 'git', skill('One.'));
  expect(await inKv()).toMatchObject({ version: 1, skill: { name: 'git' } });
  await testEnv.KV.delete(key);
  await runInDurableObject(object, (_instance, { storage }) => {
    storage.sql.exec('UPDATE documents SET updated_at = 0');
  });
  expect(await skillText(isolate(), workspace)).toBe('One.');
  await waitFor(async () => {
    await runDurableObjectAlarm(object);
    expect(await inKv()).toMatchObject({ version: 1, skill: { name: 'git' } });
  });
  await catalog.remove('skill', 'git');
  await waitFor(async () => {
    await runDurableObjectAlarm(object);
    expect(await inKv()).toEqual({ format: 1, version: 2, deleted: true });
  });
  await expect(isolate().skill(workspace, 'git')).rejects.toMatchObject({ code: 'not_found' });
});

it('what no document has is published once it was missed, and only once', async () => {
  const { workspace, bindings, isolate, object } = await emptyWorkspace({ settings: { ollamaUrl: 'http://127.0.0.1:11434' } });
  await changeEnv(object, { MONIKER_OLLAMA_URL: 'http://127.0.0.1:11434' });
  const readAll = async (): Promise<unknown> => {
    const reader = isolate();
    const made = await Promise.all([reader.made(workspace), reader.privateMade(workspace, 'k1')]);
    const all = await Promise.all([reader.rules(workspace), reader.modelAliases(workspace), reader.subscriptions(workspace)]);
    const { auditDays } = (await reader.workspaceSettings(workspace)).retention;
    const listed = (await reader.providers(workspace)).map(({ name }) => name);
    await expect(reader.provider(workspace, 'guessed')).rejects.toMatchObject({ code: 'model_not_found' });
    return [made, all, auditDays, listed, (await reader.provider(workspace, 'ollama')).kind];
  };
  const publications = () =>
    runInDurableObject(object, (_instance, { storage }) =>
      storage.sql.exec('SELECT kind, name FROM publications ORDER BY kind, name').toArray(),
    );
  const expected = [[null, null], [[], [], []], 90, ['ollama', 'rehearsal'], 'openai-compatible'];
  expect(await readAll()).toEqual(expected);
  const missed = await publications();
  expect(missed.map(({ kind, name }) => `${String(kind)} ${String(name)}`)).toEqual([
    ...['model-aliases ', 'provider ollama', 'providers ', 'rules ', 'settings ', 'subscriptions '],
    ...['toolset .made', 'toolset .made/k1'],
  ]);
  await waitFor(async () => {
    await runDurableObjectAlarm(object);
    expect(await publications()).toEqual([]);
  });
  const { KV, CATALOG } = bindings;
  let asked = 0;
  const get = (id: DurableObjectId) => {
    asked += 1;
    return CATALOG.get(id);
  };
  bindings.CATALOG = { idFromName: (name: string) => CATALOG.idFromName(name), get } as unknown as DurableObjectNamespace;
  expect(await readAll()).toEqual(expected);
  expect(asked, 'the name that does not exist').toBe(1);
  // KV may not show it everywhere yet.
  bindings.KV = { get: async () => null } as unknown as Bindings['KV'];
  expect(await readAll()).toEqual(expected);
  expect(await publications()).toEqual([]);
  bindings.KV = KV;
});
