import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { readView } from '../../../src/engine/mcp/serve-view.ts';
import { watchServed } from '../../../src/engine/mcp/serve-watch.ts';
import type { McpUpstream } from '../../../src/ports/upstream.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };

type Options = { lists?: boolean; upstream?: Partial<McpUpstream>; serverChanged?(workspace: string, server: string): Promise<void> };

async function watching(isInForce: () => Promise<boolean>, { lists = false, ...options }: Options = {}, notified: unknown[] = []) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const catalog = createNodeCatalog({ definitions: [toolOf('git', 'look')] });
  await catalog.put('server', 'git', { kind: 'mcp', url: 'https://git.example/mcp' });
  await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.look' }] });
  const unused = () => Promise.reject(new Error('not in these tests'));
  const call = { clock, log, executor: { isSafe: () => true, execute: unused }, fetch: unused, secret: unused };
  const master = createMasterKey('a master key of at least 32 characters');
  const deps = fakeServeDeps({ catalog, call, clock, log, ids, master, isInForce, ...options });
  const watched = { principal, target: 'demo', view: await readView(deps, principal, 'demo'), conversation: 'k1', lists };
  const left = new AbortController();
  let isOver = false;
  const over = watchServed(deps, { ...watched, subscriptions: [] }, (change) => void notified.push(change), left.signal).then(() => {
    isOver = true;
  });
  return { clock, left, over, isOver: () => isOver };
}

describe('a stream that a client listens on', () => {
  it('ends within the time that a key is cached, once the key is no longer valid', async () => {
    let stands = true;
    const { clock, over, isOver } = await watching(async () => stands);
    await clock.advance(60_000);
    expect(isOver()).toBe(false);
    stands = false;
    await clock.advance(limits.principalTtlMs);
    await over;
  });

  it('continues while the key cannot be checked', async () => {
    const { clock, left, over, isOver } = await watching(() => Promise.reject(new Error('the catalog is away')));
    await clock.advance(120_000);
    expect(isOver()).toBe(false);
    left.abort(new Error('enough'));
    await over;
  });

  it('refreshes the servers whose tools have changed, if list changes are wanted', async () => {
    const changed: string[] = [];
    const listen: McpUpstream['listen'] = async (_server, _uris, { onListChanged: tell }) => tell?.('tools');
    const options = { upstream: { listen }, serverChanged: async (_workspace: string, server: string) => void changed.push(server) };
    for (const lists of [false, true]) {
      const { clock, left, over } = await watching(async () => true, { lists, ...options });
      await clock.advance(100);
      left.abort(new Error('enough'));
      await over;
    }
    expect(changed).toEqual(['git']);
  });

  it('listens again half a second after a stream that lasted, and more rarely to a server that refuses streams', async () => {
    const at: number[] = [];
    const first = Promise.withResolvers<void>();
    let calls = 0;
    const listen: McpUpstream['listen'] = async () => {
      calls += 1;
      if (calls === 1) return await first.promise;
      at.push(clock.now());
    };
    const { clock, left, over } = await watching(async () => true, { lists: true, upstream: { listen } });
    const pass = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 500) await clock.advance(500);
    };
    await pass(120_000);
    const ended = clock.now();
    expect(calls).toBe(1);
    first.resolve();
    // The end of the stream is noticed before time passes.
    await clock.advance(0);
    await pass(100_000);
    const waits = at.map((time, index) => time - (at[index - 1] ?? ended));
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    left.abort(new Error('enough'));
    await over;
  });

  it('reports a changed list after the new one was read', async () => {
    const refreshed = Promise.withResolvers<void>();
    const listen: McpUpstream['listen'] = async (_server, _uris, { onListChanged: tell }) => tell?.('prompts');
    const notified: unknown[] = [];
    const options = { lists: true, upstream: { listen }, serverChanged: () => refreshed.promise };
    const { clock, left, over } = await watching(async () => true, options, notified);
    await clock.advance(1_000);
    expect(notified).toEqual([]);
    refreshed.resolve();
    await clock.advance(1_000);
    expect(notified).toEqual([{ kind: 'prompts' }]);
    left.abort(new Error('enough'));
    await over;
  });
});
