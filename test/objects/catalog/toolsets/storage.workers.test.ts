import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { readEditionText, storeEdition } from '../../../../src/objects/catalog/toolsets/editions.ts';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { CatalogRpc } from '../../../../src/objects/catalog/client/catalog-methods.ts';
import { pages, refusal, shell } from '../../../contracts/catalog/workspace.ts';
import { emptyWorkspace } from '../../../storage/workspace.ts';
import { queuedWrites } from '../../../../src/core/limits/pools.ts';

describe('the object', () => {
  it('keeps everything after an eviction', async () => {
    const { workspace, catalog, isolate, object } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('run'));
    await catalog.put('secret', 'GH', { value: 'the-token', hosts: ['api.example.com'] });
    const { key, record } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    await evictDurableObject(object);
    expect(await catalog.get('toolset', 'support')).toMatchObject({ version: 1 });
    const reader = isolate();
    expect(await reader.principal(key)).toMatchObject({ workspace, keyId: record.id });
    expect(await reader.secret(workspace, 'GH', { host: 'api.example.com' })).toBe('the-token');
  });

  it('serves only its own workspace', async () => {
    const { catalog, object } = await emptyWorkspace();
    await catalog.put('secret', 'GH', { value: 'the-token', hosts: ['api.example.com'] });
    const rpc = object as unknown as CatalogRpc;
    expect(await rpc.run('other', 'get', ['secret', 'GH'])).toMatchObject({ ok: false, problem: { code: 'internal' } });
  });

  it('writes atomically: a failed write leaves all tables unchanged', async () => {
    const { catalog, object } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('run'));
    const dump = () =>
      runInDurableObject(object, (_instance, { storage }) =>
        ['documents', 'toolset_versions', 'editions', 'edition_chunks', 'inherited_aliases'].map((table) => count(storage.sql, table)),
      );
    const before = await dump();
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec("CREATE TRIGGER broken BEFORE INSERT ON inherited_aliases BEGIN SELECT RAISE(ABORT, 'broken'); END");
    });
    await expect(catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.bash', name: 'other' }] })).rejects.toThrow('broken');
    expect(await dump()).toEqual(before);
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('DROP TRIGGER broken');
    });
    expect(await catalog.put('toolset', 'support', { tools: [{ tool: 'builtin.bash', name: 'other' }] })).toMatchObject({
      document: { version: 2 },
    });
  });

  it('gives concurrent writers of one document different versions', async () => {
    const { catalog } = await emptyWorkspace();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => catalog.put('toolset', 'support', shell(`run_${index}`))));
    expect(answers.map(({ document }) => document.version).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    const winners = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => catalog.put('toolset', 'support', shell(`go_${index}`), { ifMatch: 20 })),
    );
    expect(winners.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('rejects writes of a key that has too many in the queue, accepts those of another, and accepts them again afterwards', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    await catalog.list('toolset', { limit: 1 });
    // Called inside the object, so that all of them arrive before the first has ended.
    const outcomes = await runInDurableObject(object, (instance) => {
      const rpc = instance as unknown as CatalogRpc;
      const put = (keyId: string) => (_: unknown, index: number) =>
        rpc.run({ workspace, keyId }, 'put', ['agent', `${keyId}${index}`, { model: 'rehearsal/default' }]);
      return Promise.all([...Array.from({ length: queuedWrites.perKey + 20 }, put('greedy')), ...Array.from({ length: 5 }, put('modest'))]);
    });
    const { perKey: max } = queuedWrites;
    const refused = outcomes.flatMap((outcome, index) => (outcome.ok ? [] : [{ index, problem: outcome.problem }]));
    expect(refused.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, index) => max + index));
    const members = { limit: 'concurrentWrites', of: 'key', name: 'greedy', max, used: max, retryAfterMs: 1_000 };
    for (const { problem } of refused) expect(problem).toMatchObject({ code: 'rate_limited', ...members });
    expect(await catalog.put('agent', 'later', { model: 'rehearsal/default' })).toMatchObject({ created: true });
  });
});

describe('editions', () => {
  it('of many chunks are read back unchanged, with characters across chunk boundaries', async () => {
    const { object, catalog } = await emptyWorkspace();
    await catalog.list('toolset', { limit: 1 });
    await runInDurableObject(object, (_instance, { storage }) => {
      // Three bytes each: chunks do not end at character boundaries.
      const text = '€'.repeat(limits.storageChunkBytes);
      storeEdition(storage.sql, 'hash-of-it', text);
      storeEdition(storage.sql, 'hash-of-it', 'ignored');
      expect(storage.sql.exec('SELECT count(*) AS chunks FROM edition_chunks').one().chunks).toBe(3);
      expect(readEditionText(storage.sql, 'hash-of-it') === text).toBe(true);
      expect(() => readEditionText(storage.sql, 'unknown')).toThrow('not_found');
    });
  });
});

describe('pages', () => {
  it('of large documents are limited in size', async () => {
    const { catalog } = await emptyWorkspace();
    const notes = Array.from({ length: 20 }, (_, index) => ({ name: `n${index}`, note: 'x'.repeat(limits.maxNoteBytes) }));
    const tools = Array.from({ length: 90 }, (_, index) => ({ tool: 'builtin.bash', name: `run_${index}`, aliases: [], notes }));
    for (let index = 0; index < 6; index++) await catalog.put('toolset', `t${index}`, { tools });
    const first = await catalog.list('toolset', { limit: 200 });
    expect(JSON.stringify(first.items).length).toBeLessThan(limits.listPageBytes * 1.1);
    expect(first.items.length).toBeLessThan(6);
    expect((await pages((page) => catalog.list('toolset', page), 200)).map(({ name }) => name)).toEqual([
      't0',
      't1',
      't2',
      't3',
      't4',
      't5',
    ]);
  });
});

describe('hostile names and bodies', () => {
  const names = [
    '',
    ' ',
    '.',
    '..',
    '../x',
    'a/b',
    'a:b',
    'A',
    'a_b',
    'x'.repeat(51),
    '-a',
    'ключ',
    '__proto__',
    'constructor!',
    "x'); DROP TABLE documents; --",
    'a\u0000b',
    'a\n',
  ];

  it.each(names)('the name %j is rejected when written and unknown when read', async (name) => {
    const { catalog } = await emptyWorkspace();
    for (const [kind, body] of [
      ['toolset', shell('run')],
      ['agent', { model: 'rehearsal/default' }],
      ['provider', { kind: 'openai' }],
    ] as const) {
      await expect(catalog.put(kind, name, body)).rejects.toMatchObject({
        code: 'invalid_request',
        extra: { issues: [expect.objectContaining({ path: 'name' })] },
      });
      await expect(catalog.get(kind, name)).rejects.toMatchObject({ code: 'not_found' });
      await expect(catalog.remove(kind, name)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect((await catalog.list('toolset', { limit: 10 })).items).toEqual([]);
  });

  it('a body cannot have unknown fields', async () => {
    const { catalog } = await emptyWorkspace();
    for (const field of ['version', 'workspace', 'constructor', 'hasApiKey', 'sealed']) {
      const problem = await refusal(catalog.put('agent', 'helper', { model: 'rehearsal/default', [field]: 1 }));
      expect(problem.extra.issues).toEqual([{ path: field, message: 'unknown field' }]);
    }
    await expect(catalog.put('agent', 'helper', { model: 'rehearsal/default', name: 'other' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await catalog
      .put('agent', 'helper', JSON.parse('{"model": "rehearsal/default", "__proto__": {"polluted": true}}'))
      .catch(() => undefined);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('an agent that names missing documents is stored with a warning for each path', async () => {
    const { catalog } = await emptyWorkspace();
    const agent = { model: 'nobody/x', fallbacks: ['rehearsal/default', 'none/y'], toolset: 'later', tools: ['x'] };
    expect((await catalog.put('agent', 'helper', agent)).warnings.map(({ path }) => path)).toEqual(['model', 'fallbacks[1]', 'toolset']);
    await catalog.put('toolset', 'later', shell('run'));
    const named = { model: 'rehearsal/default', toolset: 'later', tools: ['Run', 'BASH', 'teleport'] };
    expect((await catalog.put('agent', 'helper', named)).warnings).toEqual([
      { path: 'tools[1]', message: expect.stringContaining('is a duplicate of tools[0] (builtin.bash)') },
      { path: 'tools[2]', message: expect.stringContaining('"teleport"') },
    ]);
  });

  it('an agent with a limit of cost is stored with a warning for each model without a price, until it has one', async () => {
    const { catalog } = await emptyWorkspace();
    const provider = { kind: 'openai-compatible', baseUrl: 'https://models.example/v1' };
    await catalog.put('provider', 'paid', { ...provider, prices: { 'o*': { input: 1, output: 2 } } });
    const agent = { model: 'paid/gpt-5', fallbacks: ['paid/o3', 'paid/gpt-4', 'rehearsal/default'], toolset: 'later' };
    expect((await catalog.put('agent', 'careful', agent)).warnings.map(({ path }) => path)).toEqual(['toolset']);
    const limited = { ...agent, limits: { maxCost: 0.5 } };
    const { warnings } = await catalog.put('agent', 'careful', limited);
    expect(warnings.filter(({ path }) => path === 'limits.maxCost').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^paid\/gpt-5 .*`prices`.*\/v1\/providers\/paid/),
      expect.stringContaining('paid/gpt-4'),
    ]);
    const budget = await catalog.put('agent', 'careful', { ...agent, limits: { monthlyCost: 100 } });
    expect(budget.warnings.filter(({ path }) => path === 'limits.monthlyCost').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^paid\/gpt-5 .* are rejected until then\.$/),
      expect.stringContaining('paid/gpt-4'),
    ]);
    await catalog.put('provider', 'paid', { ...provider, prices: { '*': { input: 1, output: 2 } } });
    expect((await catalog.put('agent', 'careful', limited)).warnings.map(({ path }) => path)).toEqual(['toolset']);
  });
});

function count(sql: SqlStorage, table: string): number {
  // Table names come from this file.
  return Number(sql.exec(`SELECT count(*) AS rows FROM ${table}`).one().rows);
}
