import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import type { Bindings } from '../../../../src/storage/bindings.ts';
import { kvKeys } from '../../../../src/storage/keys.ts';
import { shell } from '../../../contracts/catalog/workspace.ts';
import { changeEnv, emptyWorkspace, testEnv } from '../../../storage/workspace.ts';
import { waitFor } from '../../../wait-for.ts';

import { buildOf } from '../../../../src/core/tools/code-tools.ts';
import { toolDefinitions } from '../../../../src/tools/registry.ts';
import { takeErrors } from '../../../service-errors.ts';

/** A KV namespace with scripted writes, which records the keys in order. */
function scriptedKv(write: (key: string, value: string) => Promise<void>) {
  const tried: string[] = [];
  const put = async (key: string, value: string): Promise<void> => {
    tried.push(key);
    await write(key, value);
  };
  return { tried, KV: { put } as unknown as Bindings['KV'] };
}

const through = (key: string, value: string): Promise<void> => testEnv.KV.put(key, value);

async function publications(object: DurableObjectStub) {
  return runInDurableObject(object, (_instance, { storage }) =>
    storage.sql.exec('SELECT kind, name, sequence, attempts, due_at FROM publications').toArray(),
  );
}

/** Advances past the retry delay of a failed publish, or the interval between two. */
async function fireDueNow(object: DurableObjectStub): Promise<void> {
  await runInDurableObject(object, (_instance, { storage }) => {
    storage.sql.exec('UPDATE publications SET due_at = 0');
  });
  await runDurableObjectAlarm(object);
}

describe('publishing', () => {
  it('writes the edition before the pointer that names it, and the edition once', async () => {
    const { workspace, catalog, directory, object } = await emptyWorkspace();
    const kv = scriptedKv(through);
    await changeEnv(object, { KV: kv.KV });
    await catalog.put('toolset', 'support', shell('run'));
    const { pointer } = await directory.toolset(workspace, 'support');
    expect(kv.tried).toEqual([kvKeys.edition(workspace, pointer.hash), kvKeys.toolset(workspace, 'support')]);
    expect(JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, 'support'))) ?? '')).toEqual({
      format: 1,
      version: 1,
      revision: 1,
      hash: pointer.hash,
      build: buildOf(toolDefinitions),
    });
    expect(await publications(object)).toEqual([]);
  });

  it('confirms a write although KV fails, and retries with growing delays until it succeeds', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    let isDown = true;
    const kv = scriptedKv((key, value) => (isDown ? Promise.reject(new Error('KV is down')) : through(key, value)));
    await changeEnv(object, { KV: kv.KV });
    await catalog.put('toolset', 'support', shell('one'));
    expect(await publications(object)).toMatchObject([{ kind: 'toolset', name: 'support', attempts: 1 }]);
    for (let round = 0; round < 8; round++) await fireDueNow(object);
    const failure = { message: 'publishing failed; it will be retried', cause: 'Error: KV is down' };
    expect(takeErrors()).toMatchObject(Array(9).fill(failure));
    const [row] = await publications(object);
    expect(row?.attempts).toBe(9);
    expect(Number(row?.due_at) - Date.now()).toBeGreaterThan(limits.maxPublishBackoffMs / 2);
    expect(Number(row?.due_at) - Date.now()).toBeLessThanOrEqual(limits.maxPublishBackoffMs);
    await catalog.put('toolset', 'support', shell('two'));
    expect(takeErrors()).toMatchObject([failure]);
    isDown = false;
    await fireDueNow(object);
    expect(await publications(object)).toEqual([]);
    expect(JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, 'support'))) ?? '')).toMatchObject({ version: 2 });
  });

  it('sets an alarm before the first attempt ends, so that a crash loses nothing', async () => {
    const { catalog, object } = await emptyWorkspace();
    const alarms: (number | null)[] = [];
    let storage: DurableObjectStorage | undefined;
    await runInDurableObject(object, (_instance, state) => {
      storage = state.storage;
    });
    const kv = scriptedKv(async () => {
      alarms.push((await storage?.getAlarm()) ?? null);
    });
    await changeEnv(object, { KV: kv.KV });
    await catalog.put('toolset', 'support', shell('one'));
    expect(alarms).toEqual([expect.any(Number), expect.any(Number)]);
  });

  it('is completed by the next process if the first died after a write', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    const tool = (description: string) => ({ name: 'get', description, inputSchema: { type: 'object' } });
    const server = (description: string) => ({
      kind: 'static',
      updates: 'review',
      url: 'https://tools.example.com/call',
      tools: [tool(description)],
    });
    const toolsets = ['one', 'two', 'three'];
    await catalog.put('server', 'facts', server('Reads.'));
    for (const name of toolsets) await catalog.put('toolset', name, { tools: [{ tool: 'facts.get' }] });
    await changeEnv(object, { KV: scriptedKv(() => Promise.reject(new Error('the process dies'))).KV });
    await catalog.put('server', 'facts', server('Reads all.'));
    await catalog.put('skill', 'git', { content: '---\nname: git\ndescription: Uses git.\n---\nText.' });
    const pointer = async (name: string) => JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, name))) ?? 'null');
    for (const name of toolsets) expect(await pointer(name)).toMatchObject({ version: 1, revision: 1 });
    expect(await runInDurableObject(object, (_instance, { storage }) => storage.getAlarm())).not.toBeNull();
    const messages = takeErrors().map(({ message }) => message);
    expect(new Set(messages)).toEqual(new Set(['publishing failed; it will be retried']));

    await evictDurableObject(object);
    await fireDueNow(object);
    expect(await publications(object)).toEqual([]);
    for (const name of toolsets) {
      const { hash, ...numbers } = await pointer(name);
      expect(numbers).toEqual({ format: 1, version: 1, revision: 2, build: buildOf(toolDefinitions) });
      expect(await testEnv.KV.get(kvKeys.edition(workspace, hash))).toContain('"state":"held"');
    }
    expect(JSON.parse((await testEnv.KV.get(kvKeys.published('skill', workspace, 'git'))) ?? 'null')).toMatchObject({ version: 1 });
  });

  it('bounds the wait for slow KV, and publishes a name once at a time', async () => {
    const { catalog, object } = await emptyWorkspace();
    let running = 0;
    let most = 0;
    const released: (() => void)[] = [];
    const kv = scriptedKv(async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => released.push(resolve));
      running -= 1;
    });
    await changeEnv(object, { KV: kv.KV });
    await catalog.put('toolset', 'support', shell('one'));
    await catalog.put('toolset', 'support', shell('two'));
    expect(kv.tried).toHaveLength(1);
    await runInDurableObject(object, () => {
      released.shift()?.();
    });
    await waitFor(() => expect(kv.tried).toHaveLength(2));
    await runInDurableObject(object, () => {
      released.shift()?.();
    });
    expect(most).toBe(1);
    // The second write arrived during the first publish: its row is still present.
    await waitFor(async () => expect(await publications(object)).toMatchObject([{ kind: 'toolset', name: 'support', attempts: 0 }]));
  });

  it('writes a name at most once a second', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    const times: number[] = [];
    const kv = scriptedKv(async (key, value) => {
      if (key === kvKeys.published('agent', workspace, 'helper')) times.push(Date.now());
      await through(key, value);
    });
    await changeEnv(object, { KV: kv.KV });
    for (let version = 1; version <= 20; version++) await catalog.put('agent', 'helper', { model: `rehearsal/m${version}` });
    await waitFor(async () => {
      expect(await publications(object)).toEqual([]);
      expect(await testEnv.KV.get(kvKeys.published('agent', workspace, 'helper'))).toContain('rehearsal/m20');
    });
    for (const [index, time] of times.entries())
      if (index > 0) expect(time - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(limits.publishIntervalMs);
    expect(times.length).toBeLessThan(5);
  });

  it('publishes a tombstone for a removed document', async () => {
    const { workspace, catalog, object } = await emptyWorkspace();
    await catalog.put('toolset', 'support', shell('run'));
    await catalog.remove('toolset', 'support');
    await waitFor(async () =>
      expect(JSON.parse((await testEnv.KV.get(kvKeys.toolset(workspace, 'support'))) ?? '')).toEqual({
        format: 1,
        version: 2,
        deleted: true,
      }),
    );
    expect(await publications(object)).toEqual([]);
  });
});
