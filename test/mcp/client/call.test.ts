/** Calls of both eras, against a server on the SDK: what goes over the wire, and what comes of it. */
import { afterEach, describe, expect, it } from 'vitest';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { type FakeMcpServer, type FakeTool, listenMcpServer, type McpServerParts } from '../../fakes/mcp-server.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
const listenTo = async (parts: McpServerParts): Promise<FakeMcpServer> => {
  const server = await listenMcpServer(parts);
  open.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

const echo: FakeTool = { name: 'echo', inputSchema: { type: 'object' } };
const methods = (server: FakeMcpServer): string[] =>
  server.heard.map(({ httpMethod, method }) => (httpMethod === 'POST' ? method : httpMethod));

describe.each(['modern', 'legacy'] as const)('a call of a %s server', (eras) => {
  it('answers with what the tool says, and is sent under its own name with the idempotency key', async () => {
    const server = await listenTo({ tools: [echo], eras });
    const upstream = createMcpUpstream();
    const answer = await upstream.callTool(accessTo(server.url), callOf('echo', { a: 1 }), {}, contextWith());
    expect(answer).toEqual({
      kind: 'result',
      result: { isError: false, content: [{ type: 'text', text: '{"name":"echo","arguments":{"a":1}}' }] },
    });
    expect(server.heard.at(-1)?.headers['idempotency-key']).toBe('key-1');
  });

  it('needs no handshake the second time', async () => {
    const server = await listenTo({ tools: [echo], eras });
    const upstream = createMcpUpstream();
    await upstream.callTool(accessTo(server.url), callOf('echo'), {}, contextWith());
    const before = server.heard.length;
    await upstream.callTool(accessTo(server.url), callOf('echo'), {}, contextWith());
    expect(methods(server).slice(before)).toEqual(['tools/call']);
  });
});
