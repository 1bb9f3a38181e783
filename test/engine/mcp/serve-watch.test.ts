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
      await clock.advance(1_000);
      left.abort(new Error('enough'));
      await over;
    }
    expect(changed).toEqual(['git']);
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
