import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import type { Principal } from '../../../src/core/people/principal.ts';
import { readView } from '../../../src/engine/mcp/serve-view.ts';
import { isListening, listenInSession, noteSessionChange } from '../../../src/mcp/server/session-stream.ts';
import type { ListenAnswer } from '../../../src/ports/mcp-sessions.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';
import { otherTasks, waitFor } from '../../wait-for.ts';

const principal: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
const unused = () => Promise.reject(new Error('not in these tests'));

async function harness() {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const catalog = createNodeCatalog({ definitions: [toolOf('git', 'look'), toolOf('git', 'write')] });
  await catalog.put('server', 'git', { kind: 'mcp', url: 'https://git.example/mcp' });
  await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.look' }] });
  const call = { clock, log, executor: { isSafe: () => true, execute: unused }, fetch: unused, secret: unused };
  const key = { isActive: true };
  const deps = fakeServeDeps({
    ...{ catalog, call, clock, log, ids, master: createMasterKey('a master key of at least 32 characters') },
    isInForce: async () => key.isActive,
    upstream: {
      listen: (_server, _uris, _hooks, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    },
  });
  const asked: string[] = [];
  const state: { answer: ListenAnswer } = { answer: { subscriptions: [], logLevel: null } };
  const sessions = {
    send: unused,
    listen: async (_caller: Principal, _target: string | null, _id: string, { mode }: { mode: string }): Promise<ListenAnswer> => {
      asked.push(mode);
      return state.answer;
    },
  };
  const open = async (headers: Record<string, string> = {}): Promise<Response> => {
    const all = { accept: 'text/event-stream', 'mcp-protocol-version': '2025-11-25', ...headers };
    const request = new Request('https://moniker.test/mcp/demo', { headers: all });
    const view = await readView(deps, principal, 'demo');
    return await listenInSession(deps, sessions, { principal, target: 'demo', view, session: 's1', request });
  };
  const listen = async (headers: Record<string, string> = {}) => {
    const response = await open(headers);
    const read: { text: string; isOver: boolean } = { text: '', isOver: false };
    const reader = response.body?.pipeThrough(new TextDecoderStream() as never).getReader() as ReadableStreamDefaultReader<string>;
    const run = async (): Promise<void> => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) read.text += next.value;
      read.isOver = true;
    };
    void run();
    await settled();
    return { read, close: () => reader.cancel() };
  };
  /** In steps, since a watch that has just started sleeps from then on. */
  const wait = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 2_000) {
      await clock.advance(Math.min(left, 2_000));
      await settled();
    }
  };
  return { catalog, asked, state, key, open, listen, wait };
}

/** Reading a view takes several steps of cryptography, each of which another thread does: one of the same kind ends behind it. */
async function settled(): Promise<void> {
  for (let round = 0; round < 8; round += 1) {
    await otherTasks(10);
    await crypto.subtle.digest('SHA-256', new Uint8Array(1));
  }
}
const lists = ['tools', 'prompts', 'resources'].map((kind) => `notifications/${kind}/list_changed`);
const methodsIn = (text: string): string[] => [...text.matchAll(/"method":"([^"]+)"/g)].map(([, method = '']) => method);
const lastId = (text: string): string => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1] ?? '';

describe('the stream on which the client of a session listens', () => {
  it('has a change of the lists within seconds, and asks the session once a minute', async () => {
    const { catalog, asked, listen, wait } = await harness();
    const { read, close } = await listen();
    await wait(5 * 60_000);
    expect(methodsIn(read.text)).toEqual([]);
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.look' }, { tool: 'git.write' }] });
    await wait(6_000);
    await waitFor(() => expect(methodsIn(read.text)).toEqual(lists));
    await wait(60_000);
    expect(methodsIn(read.text)).toEqual(lists);
    expect(asked.length).toBeLessThanOrEqual(7);
    await close();
    await settled();
    expect([asked[0], asked.at(-1)]).toEqual(['open', 'close']);
  });

  it('has a change at once that the client missed while it was not connected', async () => {
    const { catalog, asked, listen, wait } = await harness();
    const first = await listen();
    await first.close();
    await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.write' }] });
    const id = lastId(first.read.text);
    expect(isListening(new Request('https://moniker.test', { headers: { 'last-event-id': id } }))).toBe(true);
    const second = await listen({ 'last-event-id': id });
    expect(methodsIn(second.read.text)).toEqual(lists);
    await second.close();
    const third = await listen({ 'last-event-id': lastId(second.read.text) });
    await wait(10_000);
    expect(methodsIn(third.read.text)).toEqual([]);
    expect(asked.filter((mode) => mode !== 'close')).toEqual(['open', 'resume', 'resume']);
    await third.close();
  });

  it.each([
    ['within a minute', 62_000, false],
    ['within seconds if this isolate has passed it on', 6_000, true],
  ])('has an update for a new subscription %s', async (_when, ms, isKnown) => {
    const { state, listen, wait } = await harness();
    const { read, close } = await listen();
    state.answer = { subscriptions: [{ uri: 'file:///a', server: 'git', own: 'file:///a' }], logLevel: null };
    if (isKnown) noteSessionChange('s1');
    await wait(ms);
    expect(read.text).toContain('{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}');
    await wait(120_000);
    expect(methodsIn(read.text)).toHaveLength(1);
    await close();
  });

  it.each<[string, ListenAnswer]>([
    ['its session was deleted', null],
    ['another stream has its place', 'conflict'],
  ])('ends within a minute once %s', async (_what, answer) => {
    const { state, listen, wait } = await harness();
    const { read } = await listen();
    state.answer = answer;
    await wait(62_000);
    expect(read.isOver).toBe(true);
  });

  it('ends once its key is revoked, and at its time limit', async () => {
    const { key, listen, wait } = await harness();
    const first = await listen();
    key.isActive = false;
    await wait(limits.principalTtlMs);
    expect(first.read.isOver).toBe(true);
    const { listen: again, wait: waitAgain } = await harness();
    const second = await again();
    await waitAgain(limits.mcpStreamMs - 10_000);
    expect(second.read.isOver).toBe(false);
    await waitAgain(15_000);
    expect(second.read.isOver).toBe(true);
  });

  it('is refused as by the transport of the SDK', async () => {
    const { state, open } = await harness();
    expect((await open({ accept: 'application/json' })).status).toBe(406);
    expect((await open({ 'mcp-protocol-version': '1999-01-01' })).status).toBe(400);
    state.answer = 'conflict';
    expect((await open()).status).toBe(409);
    state.answer = null;
    expect((await open()).status).toBe(404);
  });
});
