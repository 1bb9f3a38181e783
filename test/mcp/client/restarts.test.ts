/** A server that restarts as another one at the same URL while its clients have cached connection data: every call runs exactly once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { listenMcpServer, type FakeMcpServer } from '../../fakes/mcp-server.ts';
import { failure, result, scriptMcp } from '../../fakes/mcp-script.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const url = 'https://mcp.example.com/mcp';
const done: string[] = [];
const tools = [
  {
    name: 'note',
    inputSchema: { type: 'object' },
    answer: ({ text }: Record<string, unknown>) => {
      done.push(String(text));
      return { content: [{ type: 'text', text: 'noted' }] };
    },
  },
];
const eras = ['modern', 'legacy', 'both'] as const;
let servers: Record<(typeof eras)[number], FakeMcpServer>;
beforeAll(async () => {
  const [modern, legacy, both] = await Promise.all(eras.map((of) => listenMcpServer({ tools, eras: of })));
  servers = { modern, legacy, both } as typeof servers;
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.close()));
});

/** Sends to the server that currently runs at the URL. */
const standing = (server: () => FakeMcpServer) =>
  contextWith({ fetch: async (request) => fetch(new Request(server().url, request), { redirect: 'manual' }) });

it.each(eras.flatMap((first) => eras.map((second) => [first, second] as const)))(
  'A server that restarts as %s, then as %s, and back, is followed in several conversations at once',
  async (first, second) => {
    done.length = 0;
    const upstream = createMcpUpstream();
    let now: FakeMcpServer = servers[first];
    const context = standing(() => now);
    const wanted: string[] = [];
    for (const [step, era] of [first, second, second, first].entries()) {
      now = servers[era];
      await now.restart();
      await Promise.all(
        ['a', 'b'].map(async (conversation) => {
          const text = `${step} of ${conversation}`;
          wanted.push(text);
          const answer = await upstream.callTool(accessTo(url), callOf('note', { text }), {}, { ...context, conversation });
          expect(answer, text).toMatchObject({ kind: 'result', result: { isError: false } });
        }),
      );
    }
    expect(done.sort()).toEqual(wanted.sort());
  },
);

it('a server that restarts with an older revision of 2025 rejects the cached one, and is called with its own', async () => {
  let version = '2025-11-25';
  let sessions = 0;
  let calls = 0;
  const scripted = scriptMcp(({ message, request }) => {
    if (message?.method === 'initialize') {
      sessions += 1;
      const answer = { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'scripted', version: '1' } };
      return result(message, answer, { 'mcp-session-id': `session-${sessions}` });
    }
    if (message === null || message.method === 'server/discover') return undefined;
    if (request.headers.get('mcp-protocol-version') !== version) return failure(message, -32000, 'Unsupported protocol version', 400);
    if (message.method === 'tools/call') calls += 1;
    return undefined;
  });
  const upstream = createMcpUpstream();
  const context = contextWith({ fetch: (request) => scripted.handle(request) });
  for (version of ['2025-11-25', '2025-06-18', '2025-03-26', '2025-06-18']) {
    for (let times = 0; times < 2; times += 1)
      expect(await upstream.callTool(accessTo(url), callOf('echo'), {}, context)).toMatchObject({ result: { isError: false } });
  }
  expect([calls, sessions]).toEqual([8, 4]);
});

it('a connection that breaks is repeated for the handshake, and not for a call', async () => {
  const upstream = createMcpUpstream();
  const lost: string[] = [];
  const context = contextWith({
    fetch: async (request) => {
      const text = await request.clone().text();
      const { method = '' } = text === '' ? {} : (JSON.parse(text) as { method?: string });
      if (lost.includes(method)) return await fetch(new Request(servers.legacy.url, request));
      lost.push(method);
      throw new Problem('upstream_error', 'mcp.example.com broke the connection.', { retryable: true, sent: true });
    },
  });
  done.length = 0;
  const legacy = accessTo(url, { mcp: { era: 'legacy' } });
  const call = upstream.callTool(legacy, callOf('note', { text: 'once' }), {}, context);
  await expect(call).rejects.toMatchObject({ extra: { sent: true } });
  expect([lost.includes('initialize'), lost.at(-1), done]).toEqual([true, 'tools/call', []]);
});
