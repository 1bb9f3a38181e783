import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { readView } from '../../../src/engine/mcp/serve-view.ts';
import { listen } from '../../../src/mcp/server/listen.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };

describe('a stream of `subscriptions/listen` that fails', () => {
  it('is acknowledged, ends with its response, and leaves a line in the log', async () => {
    const [time, log, ids] = [fakeClock(), keptLog(), countedIds()];
    // The watch begins with its time limit.
    const after: typeof time.after = (ms, run) => {
      if (ms === limits.mcpStreamMs) throw new Error('no timers are left');
      return time.after(ms, run);
    };
    const clock = { ...time, after };
    const catalog = createNodeCatalog({ definitions: [toolOf('git', 'look')] });
    await catalog.put('server', 'git', { kind: 'mcp', url: 'https://git.example/mcp' });
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.look' }] });
    const unused = () => Promise.reject(new Error('not in these tests'));
    const call = { clock, log, executor: { isSafe: () => true, execute: unused }, fetch: unused, secret: unused };
    const deps = fakeServeDeps({ catalog, call, clock, log, ids, master: createMasterKey('a master key of at least 32 characters') });
    const exchange = {
      ...{ deps, era: 'modern' as const, principal, target: 'demo', conversation: 'k1', headers: new Headers() },
      ...{ signal: new AbortController().signal, capabilities: {}, logLevel: null, notify: () => undefined },
      viewOf: () => readView(deps, principal, 'demo'),
    };
    const params = { notifications: { toolsListChanged: true } };
    const response = await listen(exchange, { kind: 'request', id: 7, method: 'subscriptions/listen', params });
    const messages = (await response.text()).split('\n').flatMap((line) => (line.startsWith('data: ') ? [JSON.parse(line.slice(6))] : []));
    expect(messages).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: { toolsListChanged: true } } },
      { id: 7, result: { resultType: 'complete' } },
    ]);
    expect(log.lines).toMatchObject([{ level: 'error', message: 'a client cannot be notified of changes' }]);
  });
});
