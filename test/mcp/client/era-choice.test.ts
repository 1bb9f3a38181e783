/** Servers of both eras: which one a call uses, by what its caller can be asked. */
import { afterEach, describe, expect, it } from 'vitest';
import type { ServerAccess } from '../../../src/core/servers/server.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamHooks } from '../../../src/ports/upstream.ts';
import { type FakeMcpServer, type FakeTool, listenMcpServer, type McpServerParts } from '../../fakes/mcp-server.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const form = { type: 'object', properties: { city: { type: 'string' } } } as const;
/** Asks on its open connection if it has a session, as tools written for the 2025 revisions do. */
const asking: FakeTool = {
  name: 'ask',
  inputSchema: { type: 'object' },
  answer: async (_args, { mcpReq, sessionId }) => {
    const answer = sessionId === undefined ? 'nobody' : await mcpReq.elicitInput({ message: 'Where?', requestedSchema: form });
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
  },
};
const connection = { era: 'modern', protocolVersion: '2026-07-28', capabilities: { tools: {} } } as const;
const answer = async () => ({ action: 'accept', content: { city: 'Rome' } });
const live: UpstreamHooks = { askable: { elicitation: { form: {} } }, ask: answer, isLive: true };

async function startServer(eras: McpServerParts['eras'], mcp: ServerAccess['mcp'] = {}) {
  const server = await listenMcpServer({ tools: [asking], eras });
  open.push(server);
  const upstream = createMcpUpstream();
  const before = (): number => server.heard.length;
  return {
    server,
    /** Returns the text of the result and the methods that were sent for the call. */
    async call(hooks: UpstreamHooks, conversation = 'one') {
      const start = before();
      const access = accessTo(server.url, { mcp, connection });
      const called = await upstream.callTool(access, callOf('ask'), hooks, contextWith({ conversation }));
      const [block] = called.kind === 'result' ? called.result.content : [];
      const sent = server.heard.slice(start).filter(({ httpMethod }) => httpMethod === 'POST');
      return { text: block?.type === 'text' ? block.text : called.kind, methods: sent.map(({ method }) => method) };
    },
  };
}

const accepted = JSON.stringify(await answer());
const nobody = '"nobody"';

describe('a call at a server of both eras', () => {
  it('uses a session for a caller that can be asked while the call is open', async () => {
    const { call } = await startServer('both');
    const first = await call(live);
    expect(first.text).toBe(accepted);
    expect(first.methods).toEqual(['initialize', 'notifications/initialized', 'tools/call', '']);
    // The session is cached.
    expect((await call(live)).methods).toEqual(['tools/call', '']);
  });

  it('starts another session after the server has lost the first', async () => {
    const { server, call } = await startServer('both');
    await call(live);
    await server.restart();
    expect(await call(live)).toEqual({
      text: accepted,
      methods: ['tools/call', 'initialize', 'notifications/initialized', 'tools/call', ''],
    });
  });

  it.each<[string, UpstreamHooks]>([
    ['cannot be asked', {}],
    ['is asked after the call', { askable: { elicitation: { form: {} } }, ask: answer }],
    ['supports no questions', { askable: {}, ask: answer, isLive: true }],
    ['has only sampling, which the document does not allow', { askable: { sampling: {} }, ask: answer, isLive: true }],
  ])('uses 2026-07-28 for a caller that %s', async (_who, hooks) => {
    const { call } = await startServer('both');
    expect(await call(hooks)).toEqual({ text: nobody, methods: ['tools/call'] });
  });

  it('uses the era that the document names', async () => {
    const { call } = await startServer('both', { era: 'modern' });
    expect(await call(live)).toEqual({ text: nobody, methods: ['tools/call'] });
  });
});

describe.each(['modern', 'both-without-sessions'] as const)('a call at a server that cannot ask on a connection (%s)', (eras) => {
  it('uses 2026-07-28, and attempts a session once for all conversations', async () => {
    const { call } = await startServer(eras);
    const first = await call(live);
    expect(first.text).toBe(nobody);
    expect([first.methods[0], first.methods.at(-1)]).toEqual(['initialize', 'tools/call']);
    expect(await call(live, 'two')).toEqual({ text: nobody, methods: ['tools/call'] });
  });
});

describe('an answer to a question of a server', () => {
  /** Breaks the connection of the first `count` answers before they arrive. */
  const failing = (count: number) => {
    let left = count;
    return async (request: Request): Promise<Response> => {
      const text = request.method === 'POST' ? await request.clone().text() : '';
      if (text.includes('"Rome"') && left-- > 0) throw new TypeError('other side closed');
      return await fetch(request);
    };
  };
  const ask = async (count: number) => {
    const server = await listenMcpServer({ tools: [asking], eras: 'legacy' });
    open.push(server);
    const context = contextWith({ fetch: failing(count) });
    return await createMcpUpstream().callTool(accessTo(server.url, { connection: null }), callOf('ask'), live, context);
  };

  it('is sent again when the connection broke off, and the call goes on', async () => {
    expect(JSON.stringify(await ask(1))).toContain('Rome');
  });

  it('that cannot be sent ends the call at once, with the reason', async () => {
    await expect(ask(9)).rejects.toMatchObject({ detail: expect.stringContaining('could not be sent the answer') });
  });
});
