import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { resolveName } from '../../../src/core/toolset/alias-map.ts';
import { fallbackRules } from '../../../src/core/policy/policy.ts';
import { limits } from '../../../src/core/limits/limits.ts';
import { kvKeys } from '../../../src/storage/keys.ts';
import type { Bindings } from '../../../src/storage/bindings.ts';
import { refusal, shell } from '../../contracts/catalog/workspace.ts';
import { changeEnv, emptyWorkspace, testEnv } from '../workspace.ts';
import { editionCacheTtlSeconds, pointerCacheTtlSeconds } from '../../../src/storage/published/published-reader.ts';
import { waitFor } from '../../wait-for.ts';

afterEach(() => vi.restoreAllMocks());

/** KV that counts its reads and can return wrong values. */
function countedKv(read: (key: string, value: string | null) => string | null = (_key, value) => value) {
  const reads: { key: string; cacheTtl: number | undefined }[] = [];
  const get = async (key: string, options: { type: 'text'; cacheTtl?: number }): Promise<string | null> => {
    reads.push({ key, cacheTtl: options.cacheTtl });
    return read(key, await testEnv.KV.get(key, options));
  };
  return { reads, KV: { get } as unknown as Bindings['KV'] };
}

/** The Catalog with every call counted. */
function countedCatalog(namespace: DurableObjectNamespace) {
  const questions: string[] = [];
  const get = (id: DurableObjectId) => {
    questions.push(String(id));
    return namespace.get(id);
  };
  return { questions, CATALOG: { idFromName: (name: string) => namespace.idFromName(name), get } as unknown as DurableObjectNamespace };
}

/** Lets the publisher work until its publications are visible. */
async function published(object: DurableObjectStub, check: () => Promise<void>): Promise<void> {
  await waitFor(async () => {
    await runDurableObjectAlarm(object);
    await check();
  });
}

async function waiting(object: DurableObjectStub): Promise<unknown> {
  return runInDurableObject(object, (_instance, { storage }) => storage.sql.exec('SELECT count(*) AS rows FROM publications').one().rows);
}

describe('a warm isolate', () => {
  it('reads no KV, calls no Catalog and parses nothing', async () => {
    const kv = countedKv();
    const { catalog, directory, bindings, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    const counted = countedCatalog(bindings.CATALOG);
    bindings.CATALOG = counted.CATALOG;
    await catalog.put('toolset', 'support', shell('run'));
    await catalog.put('agent', 'helper', { model: 'rehearsal/default', toolset: 'support' });
    const { key } = await catalog.createKey({ name: 'ci', scopes: ['chat'] });
    const request = async () => {
      const principal = await directory.principal(key);
      await directory.agent(principal.workspace, 'helper');
      await directory.provider(principal.workspace, 'rehearsal');
      await directory.rules(principal.workspace);
      const compiled = await directory.toolset(principal.workspace, 'support');
      await directory.edition(principal.workspace, compiled.pointer);
      return resolveName(compiled.names, 'run');
    };
    await request();
    const before = { reads: kv.reads.length, questions: counted.questions.length };
    expect(before.questions).toBeGreaterThan(0);
    await clock.advance(limits.publishedTtlMs - 1);
    const parse = vi.spyOn(JSON, 'parse');
    for (let round = 0; round < 100; round++) expect(await request()).toMatchObject({ ok: true });
    expect(parse).not.toHaveBeenCalled();
    expect({ reads: kv.reads.length, questions: counted.questions.length }).toEqual(before);
  });

  it('reads the pointer again when it expires, but never a cached edition', async () => {
    const kv = countedKv();
    const { workspace, catalog, isolate, clock } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('toolset', 'support', shell('run'));
    const reader = isolate();
    const first = await reader.toolset(workspace, 'support');
    await clock.advance(limits.publishedTtlMs);
    const second = await reader.toolset(workspace, 'support');
    expect(second.names).toBe(first.names);
    expect(kv.reads).toEqual([
      { key: kvKeys.toolset(workspace, 'support'), cacheTtl: pointerCacheTtlSeconds },
      { key: kvKeys.edition(workspace, first.pointer.hash), cacheTtl: editionCacheTtlSeconds },
      { key: kvKeys.toolset(workspace, 'support'), cacheTtl: pointerCacheTtlSeconds },
    ]);
  });
});

describe('a cold isolate', () => {
  it('finds toolset and agent in KV without the Catalog', async () => {
    const { workspace, catalog, bindings, isolate, object } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('run'));
    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    const counted = countedCatalog(bindings.CATALOG);
    bindings.CATALOG = counted.CATALOG;
    const reader = isolate();
    expect(resolveName((await reader.toolset(workspace, 'support')).names, 'run')).toMatchObject({ ok: true });
    expect(await reader.agent(workspace, 'helper')).toMatchObject({ model: 'rehearsal/default' });
    await catalog.remove('agent', 'helper');
    await published(object, async () => expect(await testEnv.KV.get(kvKeys.published('agent', workspace, 'helper'))).toContain('deleted'));
    counted.questions.length = 0;
    await expect(isolate().agent(workspace, 'helper')).rejects.toMatchObject({ code: 'not_found' });
    expect(counted.questions).toEqual([]);
  });

  it('loads once for many concurrent requests', async () => {
    const kv = countedKv();
    const { workspace, catalog, isolate } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('toolset', 'support', shell('run'));
    const reader = isolate();
    const all = await Promise.all(Array.from({ length: 50 }, () => reader.toolset(workspace, 'support')));
    expect(new Set(all.map(({ names }) => names)).size).toBe(1);
    expect(kv.reads).toHaveLength(2);
  });

  it.each([
    ['nothing', () => null],
    ['half a value', (value: string | null) => value?.slice(0, value.length / 2) ?? null],
    ['another format', () => '{"format":99,"hash":"x"}'],
    ['a bare word', () => 'null'],
  ])('asks the Catalog when KV has %s', async (_case, lie) => {
    const kv = countedKv((_key, value) => lie(value));
    const { workspace, catalog, isolate } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('toolset', 'support', shell('run'));
    await catalog.put('agent', 'helper', { model: 'rehearsal/default' });
    const reader = isolate();
    expect(resolveName((await reader.toolset(workspace, 'support')).names, 'run')).toMatchObject({ ok: true });
    expect(await reader.agent(workspace, 'helper')).toMatchObject({ model: 'rehearsal/default' });
  });

  it('asks the Catalog when KV fails', async () => {
    const kv = countedKv(() => {
      throw new Error('KV is down');
    });
    const { workspace, catalog, isolate, log } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('toolset', 'support', shell('run'));
    expect((await isolate().toolset(workspace, 'support')).pointer.version).toBe(1);
    expect(log.lines).toContainEqual(
      expect.objectContaining({ level: 'error', fields: expect.objectContaining({ cause: expect.stringContaining('KV is down') }) }),
    );
  });

  it('refuses an edition whose bytes do not have its hash', async () => {
    const kv = countedKv((key, value) =>
      key.startsWith('edition:') ? (value?.replace('Does', 'Did').replace('run', 'ruin') ?? null) : value,
    );
    const { workspace, catalog, isolate } = await emptyWorkspace({ env: { KV: kv.KV } });
    await catalog.put('toolset', 'support', shell('run'));
    const { names } = await isolate().toolset(workspace, 'support');
    expect(resolveName(names, 'run')).toMatchObject({ ok: true, via: 'wire' });
  });

  it('republishes what KV lost', async () => {
    const { workspace, catalog, isolate, object } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('run'));
    const { pointer } = await isolate().toolset(workspace, 'support');
    const keys = [kvKeys.toolset(workspace, 'support'), kvKeys.edition(workspace, pointer.hash)];
    for (const key of keys) {
      expect(await testEnv.KV.get(key)).not.toBeNull();
      await testEnv.KV.delete(key);
    }
    // Soon after a write a miss means nothing: KV may not show the value yet.
    await isolate().toolset(workspace, 'support');
    expect(await waiting(object)).toBe(0);
    await runInDurableObject(object, (_instance, { storage }) => {
      storage.sql.exec('UPDATE documents SET updated_at = 0');
      storage.sql.exec('UPDATE editions SET published_at = 1');
    });
    await isolate().toolset(workspace, 'support');
    expect(await waiting(object)).toBe(1);
    await published(object, async () => {
      for (const key of keys) expect(await testEnv.KV.get(key)).not.toBeNull();
    });
  });

  it('caches a miss for a few seconds only, and does not look up an invalid name', async () => {
    const { workspace, catalog, bindings, isolate, clock } = await emptyWorkspace();
    const counted = countedCatalog(bindings.CATALOG);
    bindings.CATALOG = counted.CATALOG;
    const reader = isolate();
    for (let round = 0; round < 3; round++) await expect(reader.toolset(workspace, 'later')).rejects.toMatchObject({ code: 'not_found' });
    expect(counted.questions).toHaveLength(1);
    for (const name of ['', 'a:b', '../x', 'A', 'x'.repeat(100_000), '__proto__']) {
      await expect(reader.toolset(workspace, name)).rejects.toMatchObject({ code: 'not_found' });
      await expect(reader.agent(workspace, name)).rejects.toMatchObject({ code: 'not_found' });
    }
    expect(counted.questions).toHaveLength(1);
    await catalog.put('toolset', 'later', shell('run'));
    await clock.advance(limits.missTtlMs);
    expect((await reader.toolset(workspace, 'later')).pointer.version).toBe(1);
  });
});

describe('after a write', () => {
  it('is seen by the isolate that made it although KV still has the old value', async () => {
    const { workspace, catalog, directory, bindings, isolate, clock } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('one'));
    const old = await testEnv.KV.get(kvKeys.toolset(workspace, 'support'));
    bindings.KV = countedKv((key, value) => (key === kvKeys.toolset(workspace, 'support') ? old : value)).KV;
    await directory.toolset(workspace, 'support');
    await catalog.put('toolset', 'support', shell('two'));
    expect((await directory.toolset(workspace, 'support')).pointer.version).toBe(2);
    await clock.advance(limits.publishedTtlMs * 2);
    expect((await directory.toolset(workspace, 'support')).pointer.version).toBe(2);
    expect((await isolate().toolset(workspace, 'support')).pointer.version).toBe(1);
  });

  it('a response in flight is not cached', async () => {
    const { workspace, catalog, directory } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('one'));
    const early = directory.toolset(workspace, 'support');
    directory.invalidate('toolset', workspace, 'support');
    await catalog.put('toolset', 'support', shell('two'));
    await early;
    expect((await directory.toolset(workspace, 'support')).pointer.version).toBe(2);
  });

  it('of default aliases gives a revision to the toolsets that inherit them, and is left out where it would clash', async () => {
    const { workspace, catalog, directory } = await emptyWorkspace();
    await catalog.put('toolset', 'inherits', { tools: [{ tool: 'builtin.bash', name: 'run' }] });
    await catalog.put('toolset', 'own', { tools: [{ tool: 'builtin.bash', name: 'run', aliases: [] }] });
    await catalog.put('toolset', 'clashes', {
      tools: [
        { tool: 'builtin.bash', name: 'run' },
        { tool: 'builtin.read_file', name: 'terminal' },
      ],
    });
    const { warnings } = await catalog.put('tool-aliases', 'builtin.bash', { aliases: ['terminal'] });
    expect(warnings).toMatchObject([{ path: 'aliases', message: expect.stringContaining('"clashes"') }]);
    const inherits = await directory.toolset(workspace, 'inherits');
    expect(inherits.pointer).toMatchObject({ version: 1, revision: 2 });
    expect(resolveName(inherits.names, 'terminal')).toMatchObject({ ok: true, canonical: 'builtin.bash', via: 'alias' });
    expect((await directory.toolset(workspace, 'own')).pointer).toMatchObject({ version: 1, revision: 1 });
    const clashes = await directory.toolset(workspace, 'clashes');
    expect(resolveName(clashes.names, 'terminal')).toMatchObject({ ok: true, canonical: 'builtin.read_file' });
    expect((await catalog.get('toolset', 'inherits')).version).toBe(1);
    await catalog.remove('tool-aliases', 'builtin.bash');
    expect((await directory.toolset(workspace, 'inherits')).pointer).toMatchObject({ version: 1, revision: 3 });
  });
});

describe('the rules of the workspace', () => {
  const rule = { decision: 'allow' as const, kind: 'network' as const, host: 'a.example' };

  it('are seen at once by the isolate that wrote them, elsewhere when they expire', async () => {
    const { workspace, catalog, directory, isolate, clock } = await emptyWorkspace();
    const other = isolate();
    expect([await directory.rules(workspace), await other.rules(workspace)]).toEqual([[], []]);
    await catalog.addRule(rule);
    expect([await directory.rules(workspace), await other.rules(workspace)]).toEqual([[rule], []]);
    await clock.advance(limits.publishedTtlMs);
    expect(await other.rules(workspace)).toEqual([rule]);
  });

  it('require approval for changes while the Catalog is unavailable, which is logged once, until it responds', async () => {
    const { workspace, catalog, directory, bindings, clock, log } = await emptyWorkspace();
    await catalog.addRule(rule);
    const answering = bindings.CATALOG;
    const silent = {
      idFromName: (name: string) => answering.idFromName(name),
      get: () => ({ run: () => Promise.reject(new Error('gone')) }),
    };
    // Only the methods that are used.
    bindings.CATALOG = silent as unknown as DurableObjectNamespace;
    expect([await directory.rules(workspace), await directory.rules(workspace)]).toEqual([fallbackRules, fallbackRules]);
    expect(log.lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { workspace, cause: 'Error: gone' } }]);
    bindings.CATALOG = answering;
    await clock.advance(limits.missTtlMs);
    expect(await directory.rules(workspace)).toEqual([rule]);
  });
});

describe('providers', () => {
  it('of the settings exist until a stored one takes precedence', async () => {
    const settings = { providerKeys: new Map([['openai', 'sk-env']]), ollamaUrl: 'http://127.0.0.1:11434/' };
    const { workspace, catalog, directory } = await emptyWorkspace({ settings });
    expect(await directory.provider(workspace, 'openai')).toMatchObject({
      kind: 'openai',
      baseUrl: 'https://api.openai.com/v1',
      headers: { authorization: 'Bearer sk-env' },
    });
    expect(await directory.provider(workspace, 'ollama')).toMatchObject({
      kind: 'openai-compatible',
      baseUrl: 'http://127.0.0.1:11434/v1',
      headers: {},
    });
    expect((await directory.providers(workspace)).map(({ name }) => name)).toEqual(['ollama', 'openai', 'openai-responses', 'rehearsal']);
    await catalog.put('provider', 'openai', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1/' });
    expect(await directory.provider(workspace, 'openai')).toMatchObject({ baseUrl: 'http://127.0.0.1:9/v1', headers: {} });
    await catalog.remove('provider', 'openai');
    expect(await directory.provider(workspace, 'openai')).toMatchObject({ headers: { authorization: 'Bearer sk-env' } });
  });

  it('take keys and headers from secrets that are bound to their host, and from no others', async () => {
    const { workspace, catalog, directory } = await emptyWorkspace();
    const provider = {
      kind: 'openai-compatible',
      baseUrl: 'https://llm.example.com/v1',
      apiKeySecret: 'KEY',
      headers: { 'X-Org': 'blue', 'X-Token': { secret: 'TOKEN' } },
    };
    const { warnings } = await catalog.put('provider', 'llm', provider);
    expect(warnings.map(({ path }) => path)).toEqual(['apiKeySecret', 'headers.X-Token.secret']);
    await expect(directory.provider(workspace, 'llm')).rejects.toMatchObject({
      code: 'not_configured',
      detail: expect.stringContaining('"KEY"'),
    });
    await catalog.put('secret', 'KEY', { value: 'key-value', hosts: ['llm.example.com'] });
    await catalog.put('secret', 'TOKEN', { value: 'token-value', hosts: ['*.example.com'] });
    expect((await directory.provider(workspace, 'llm')).headers).toEqual({
      authorization: 'Bearer key-value',
      'x-org': 'blue',
      'x-token': 'token-value',
    });
    await catalog.put('secret', 'TOKEN', { value: 'token-value', hosts: ['other.example.com'] });
    await expect(directory.provider(workspace, 'llm')).rejects.toMatchObject({
      code: 'not_configured',
      detail: expect.not.stringContaining('token-value'),
    });
    const problem = await refusal(catalog.put('provider', 'llm', provider));
    expect(problem.extra.issues).toEqual([
      { path: 'headers.X-Token.secret', message: expect.stringContaining('not bound to the host llm.example.com') },
    ]);
  });
});

describe('without a master key', () => {
  it('secrets and keys say how to set one, and everything else works', async () => {
    const { workspace, catalog, directory, object } = await emptyWorkspace({ settings: { masterKey: null } });
    await changeEnv(object, { MONIKER_MASTER_KEY: '' });
    const unset = { code: 'not_configured', detail: expect.stringContaining('MONIKER_MASTER_KEY') };
    await expect(catalog.put('secret', 'GH', { value: 'x', hosts: ['a.example.com'] })).rejects.toMatchObject(unset);
    await expect(catalog.put('provider', 'llm', { kind: 'openai', apiKey: 'sk-x' })).rejects.toMatchObject(unset);
    await expect(catalog.createKey({ name: 'ci', scopes: ['chat'] })).rejects.toMatchObject(unset);
    await expect(directory.principal(`mk_default_${'a'.repeat(12)}_${'b'.repeat(32)}`)).rejects.toMatchObject(unset);
    await catalog.put('provider', 'local', { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' });
    expect(await directory.provider(workspace, 'local')).toMatchObject({ headers: {} });
    await catalog.put('toolset', 'support', shell('run'));
    expect((await directory.toolset(workspace, 'support')).pointer.version).toBe(1);
  });
});
