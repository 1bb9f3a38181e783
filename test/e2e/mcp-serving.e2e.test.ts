import { beforeAll, describe, expect, it } from 'vitest';
import { connectClient, textOf } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const service = shareService();
const toolset = {
  tools: [
    { tool: 'builtin.bash', aliases: ['shell', 'terminal'] },
    { tool: 'builtin.delete_file', approval: 'always' },
  ],
};

beforeAll(async () => {
  expect((await service.call('PUT', '/v1/toolsets/served', toolset)).status).toBe(201);
});

const rpc = (method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const accept = { accept: 'application/json, text/event-stream' };
const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

/** The message of a stream that holds one response. */
function answerIn(text: string) {
  const data = text.split('\n').filter((line) => line.startsWith('data: {'));
  return JSON.parse(data.at(-1)?.slice('data: '.length) ?? '{}');
}

describe('a toolset served over MCP', () => {
  it.each(['legacy', 'auto', 'pinned'] as const)('serves the SDK’s client, era %s', async (era) => {
    const client = await connectClient(`${service.url}/mcp/served`, service.key, era);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shell', 'delete_file']);
    expect(textOf((await client.callTool({ name: 'terminal', arguments: { command: 'echo $((6*7))' } })) as never)).toContain('42');
    await client.close();
  });

  it.each(['legacy', 'pinned'] as const)('elicits approval in the client, era %s', async (era) => {
    const asked: string[] = [];
    const client = await connectClient(`${service.url}/mcp/served`, service.key, era, { elicitation: { form: {} } }, (client) =>
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { approve: true } };
      }),
    );
    const result = await client.callTool({ name: 'delete_file', arguments: { path: 'gone.txt' } });
    expect(asked).toEqual([expect.stringContaining('{"path":"gone.txt"}')]);
    expect(result._meta).toMatchObject({ code: 'tool_error', canonical: 'builtin.delete_file' });
    await client.close();
  });

  it('keeps a session across a power failure, and ends it on DELETE', async () => {
    const begun = await service.call('POST', '/mcp/served', rpc('initialize', initialize), accept);
    const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25', ...accept };
    expect((await service.call('POST', '/mcp/served', { jsonrpc: '2.0', method: 'notifications/initialized' }, session)).status).toBe(202);
    expect(begun.headers.get('x-moniker-edition')).toBe('served@1.1');
    await service.restart();
    const listed = await service.call('POST', '/mcp/served', rpc('tools/list'), session);
    expect(answerIn(listed.text).result.tools).toHaveLength(2);
    expect((await service.call('DELETE', '/mcp/served', undefined, session)).status).toBe(200);
    expect((await service.call('POST', '/mcp/served', rpc('tools/list'), session)).status).toBe(404);
  });

  it('rejects other origins and other host names', async () => {
    const list = async (headers: Record<string, string>) =>
      (await service.call('POST', '/mcp/served', rpc('tools/list'), { ...accept, ...headers })).status;
    expect(await list({ origin: 'https://evil.example' })).toBe(403);
    expect(await list({ origin: 'http://localhost:6274' })).toBe(200);
    expect(await list({})).toBe(200);
  });

  it('writes every call into the audit log before it responds', async () => {
    const client = await connectClient(`${service.url}/mcp/served`, service.key, 'pinned');
    await client.callTool({ name: 'terminal', arguments: { command: 'true' } });
    const { json } = await service.call('GET', '/v1/audit?limit=1');
    expect(json.items).toMatchObject([
      { requested: 'terminal', canonical: 'builtin.bash', via: 'alias', toolset: 'served', verdict: 'ran' },
    ]);
    await client.close();
  });
});
