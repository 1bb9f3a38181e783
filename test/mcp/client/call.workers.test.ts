/** The client in the Workers runtime: both eras, with the SDK's server in the same isolate on the other side. */
import { createMcpHandler, Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { accessTo, callOf, contextWith } from './context.ts';

function makeServer(): Server {
  const server = new Server({ name: 'here', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [{ name: 'add', inputSchema: { type: 'object' } }] }));
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    const { a, b } = params.arguments as { a: number; b: number };
    return { content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } };
  });
  return server;
}

const modern = createMcpHandler(makeServer, { legacy: 'reject' });
let session: WebStandardStreamableHTTPServerTransport | null = null;
async function legacy(request: Request): Promise<Response> {
  const isFirst = request.headers.get('mcp-session-id') === null;
  if (isFirst || session === null) {
    session = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await makeServer().connect(session);
  }
  return session.handleRequest(request);
}

describe.each([
  ['modern', (request: Request) => modern.fetch(request)],
  ['legacy', legacy],
])('in the Workers runtime, a %s server', (era, handle) => {
  it('is listed, called, and called again', async () => {
    const upstream = createMcpUpstream();
    const access = accessTo('https://mcp.example.com/mcp');
    const context = contextWith({ fetch: handle });
    expect(await upstream.discover(access, context)).toMatchObject({ tools: [{ name: 'add' }], connection: { era } });
    const outputSchema = { type: 'object', properties: { sum: { type: 'number' } }, required: ['sum'] };
    const told: unknown[] = [];
    for (const a of [1, 2]) {
      const answer = await upstream.callTool(
        access,
        callOf('add', { a, b: 2 }, { outputSchema }),
        { progress: (update) => told.push(update) },
        context,
      );
      expect(answer).toMatchObject({ kind: 'result', result: { isError: false, structuredContent: { sum: a + 2 } } });
    }
    expect(told).toEqual([{ progress: 1 }, { progress: 1 }]);
  });
});
