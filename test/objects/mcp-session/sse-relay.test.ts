/** The connection of an HTTP+SSE client in time: its limits, and its end. `mcp-sse.e2e.test.ts` has real clients. */
import { describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../src/core/people/principal.ts';
import type { McpAnswer, McpRequest } from '../../../src/mcp/server/endpoint.ts';
import { createMasterKey } from '../../../src/storage/keys/master-key.ts';
import { createNodeCatalog } from '../../fakes/node-catalog.ts';
import { toolOf } from '../../fakes/known-tools.ts';
import { countedIds, fakeClock, keptLog } from '../../fakes/runtime.ts';
import { fakeServeDeps } from '../../fakes/serve-deps.ts';
import { SseRelay } from '../../../src/objects/mcp-session/sse-relay.ts';

// The bindings of the relay are its wiring; those of the Catalog are bindings.
vi.mock('../../../src/wiring/wire.ts', async (original) => {
  const { wire } = await original<typeof import('../../../src/wiring/wire.ts')>();
  return { wire: (given: Parameters<typeof wire>[0]) => ('mcpSessions' in given ? given : wire(given)) };
});

const caller: Principal = { workspace: 'default', keyId: 'k1', scopes: ['tools'] };
const connection = { caller, target: 'demo', id: '0'.repeat(32) };
const minute = 60_000;

/** `answer`: of `/mcp` to each message. */
async function connect(answer: (request: McpRequest) => Response | Promise<Response>) {
  const [clock, log, ids] = [fakeClock(), keptLog(), countedIds()];
  const catalog = createNodeCatalog({ definitions: [toolOf('git', 'look')] });
  await catalog.put('server', 'git', { kind: 'mcp', url: 'https://git.example/mcp' });
  await catalog.put('toolset', 'demo', { tools: [{ tool: 'git.look' }] });
  const unused = () => Promise.reject(new Error('not in these tests'));
  const call = { clock, log, executor: { isSafe: () => true, execute: unused }, fetch: unused, secret: unused };
  const serve = fakeServeDeps({ catalog, call, clock, log, ids, master: createMasterKey('a master key of at least 32 characters') });
  const asked: string[] = [];
  const mcp = async (request: McpRequest): Promise<McpAnswer> => {
    if (request.request.method === 'GET') return { response: new Response(null, { status: 405 }) } as McpAnswer;
    asked.push(request.request.method);
    return { response: await answer(request) } as McpAnswer; // The relay reads nothing else.
  };
  const needs = { clock, log, serve, mcp, mcpSessions: { listen: async () => ({ subscriptions: [], logLevel: null }) } };
  const context = { waitUntil: () => undefined };
  const relay = new SseRelay(context as never, needs as never);
  const open = async () => {
    const start = { endpoint: '/sse/demo', after: null, session: null };
    const response = await relay.fetch(
      new Request('https://relay.invalid/', { method: 'POST', body: JSON.stringify({ connection, start }) }),
    );
    const read = { text: '', isOver: false };
    const reading = (async () => {
      for await (const bytes of response.body ?? []) read.text += new TextDecoder().decode(bytes);
      read.isOver = true;
    })();
    return { status: response.status, read, reading };
  };
  /** In steps, since a timer that ends starts the next one. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 5_000) await clock.advance(5_000);
  };
  const send = async (message: object) => await relay.send(connection, { text: JSON.stringify(message), revision: null });
  return { open, pass, send, asked };
}

const json = (id: number, headers: Record<string, string> = {}): Response => Response.json({ jsonrpc: '2.0', id, result: {} }, { headers });
const request = (id: number, method = 'ping') => ({ jsonrpc: '2.0', id, method });

describe('the connection of an HTTP+SSE client', () => {
  it('ends its stream after half an hour without messages, and its session two minutes later', async () => {
    const { open, pass, send, asked } = await connect(({ request: { method } }) =>
      method === 'DELETE' ? new Response(null) : json(1, { 'mcp-session-id': 's1' }),
    );
    const { read, reading } = await open();
    await pass(20 * minute);
    expect(await send(request(1, 'initialize'))).toMatchObject({ ok: true });
    await expect.poll(() => read.text).toContain('"id":1');
    await pass(29 * minute);
    expect(read.isOver).toBe(false);
    await pass(2 * minute);
    await reading;
    expect(asked).toEqual(['POST']);
    await pass(2 * minute);
    expect(asked).toEqual(['POST', 'DELETE']);
  });

  it('is not idle while a call runs, and keeps its session if the client returns in time', async () => {
    const held = Promise.withResolvers<Response>();
    const { open, pass, send, asked } = await connect(() => held.promise);
    const first = await open();
    await send(request(1, 'tools/call'));
    await pass(40 * minute);
    expect(first.read.isOver).toBe(false);
    held.resolve(json(1, { 'mcp-session-id': 's1' }));
    await expect.poll(() => first.read.text).toContain('"id":1');
    await pass(31 * minute);
    await first.reading;
    const second = await open();
    await pass(5 * minute);
    expect([second.status, second.read.isOver, asked]).toEqual([200, false, ['POST']]);
  });

  it('has at most 64 messages in flight, and passes on the answers and what precedes them', async () => {
    const held = Promise.withResolvers<void>();
    const answer = async ({ body }: McpRequest): Promise<Response> => {
      await held.promise;
      const { id } = body as { id: number };
      const messages = [
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: id, progress: 1 } },
        { jsonrpc: '2.0', id, result: {} },
      ];
      const text = messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    };
    const { open, send } = await connect(answer);
    const { read } = await open();
    const sent = [];
    for (let id = 1; id <= 65; id += 1) sent.push(await send(request(id)));
    expect(sent.filter(({ ok }) => ok)).toHaveLength(64);
    expect(sent.at(-1)).toMatchObject({ ok: false, problem: { code: 'rate_limited' } });
    held.resolve();
    await expect.poll(() => read.text.match(/"result"/g)?.length).toBe(64);
    for (const id of [1, 64]) expect(read.text.indexOf(`"progressToken":${id},`)).toBeLessThan(read.text.indexOf(`"id":${id},`));
    expect(await send(request(66))).toMatchObject({ ok: true });
  });
});
