/**
 * Tools that a server lists for the page of an MCP app only (ext-apps 2026-01-26, `_meta.ui.visibility`): the page calls them through its host,
 * and no model is offered one or can call it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeMcpServer, type FakeTool, listenMcpServer } from '../fakes/mcp-server.ts';
import { connectClient } from './mcp-clients.ts';
import { offerAll } from './mcp-through.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const extension = { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } };
const resourceUri = 'ui://chart/view.html';

const meta = (visibility: unknown): object => ({ _meta: { ui: { resourceUri, ...(visibility !== undefined && { visibility }) } } });

const tool = (name: string, visibility?: unknown): FakeTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  answer: () => ({ content: [{ type: 'text', text: `${name} ran` }] }),
  ...meta(visibility),
});

const forModels = ['both', 'draw', 'model', 'odd'];
const tools = [
  tool('draw'),
  tool('both', ['model', 'app']),
  tool('model', ['model']),
  tool('odd', 'app'),
  tool('refresh', ['app']),
  tool('none', []),
];

let fake: FakeMcpServer;
beforeAll(async () => {
  fake = await listenMcpServer({ tools });
  await offerAll(service, 'chart', fake.url);
});
afterAll(() => fake.close());

const calls = (): unknown[] => fake.heard.filter(({ method }) => method === 'tools/call');

describe.each(['legacy', 'pinned'] as const)('an MCP client (%s)', (era) => {
  const connect = (capabilities: object, query = '') =>
    connectClient(`${service.url}/mcp/chart${query}`, service.key, era, capabilities as never);
  const names = async (client: Awaited<ReturnType<typeof connect>>): Promise<string[]> =>
    (await client.listTools()).tools.map(({ name }) => name).sort();

  it('that shows pages lists and calls the tools of the page', async () => {
    const client = await connect({ extensions: extension });
    expect(await names(client)).toEqual([...forModels, 'none', 'refresh'].sort());
    expect(await client.callTool({ name: 'refresh', arguments: {} })).toMatchObject({ content: [{ text: 'refresh ran' }] });
    await client.close();
  });

  it('that shows none does not list them, and its calls of them are refused', async () => {
    const client = await connect({});
    const before = calls().length;
    expect(await names(client)).toEqual(forModels);
    expect(await client.callTool({ name: 'refresh', arguments: {} })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('only for the page of an MCP app') }],
      _meta: { code: 'not_allowed' },
    });
    expect(calls()).toHaveLength(before);
    await client.close();
  });

  it('whose model searches for tools neither finds them nor calls them with call_tool', async () => {
    const client = await connect({ extensions: extension }, '?tools=search');
    const before = calls().length;
    const found = JSON.stringify(await client.callTool({ name: 'find_tools', arguments: { query: 'refresh' } }));
    expect(found).not.toContain('"refresh"');
    const called = await client.callTool({ name: 'call_tool', arguments: { name: 'refresh' } });
    expect(called).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('only for the page of an MCP app') }] });
    expect(calls()).toHaveLength(before);
    // The page calls by name through its host.
    expect(await client.callTool({ name: 'refresh', arguments: {} })).toMatchObject({ content: [{ text: 'refresh ran' }] });
    await client.close();
  });
});

describe('a model', () => {
  const agent = { model: 'rehearsal/default', instructions: '', toolset: 'chart' };
  const turnWith = async (input: string) => {
    const { json: session } = await service.call('POST', '/v1/sessions', agent);
    return (await service.call('POST', `/v1/sessions/${session.id}/turns`, { input })).json;
  };

  it('cannot call them in a turn', async () => {
    const before = calls().length;
    const { toolCalls } = await turnWith('/refresh');
    expect(toolCalls).toMatchObject([{ requested: 'refresh', code: 'not_allowed', isError: true }]);
    expect(calls()).toHaveLength(before);
  });

  it('is not offered them, and the report of the toolset says why', async () => {
    const { json } = await service.call('GET', '/v1/toolsets/chart/tools?provider=rehearsal');
    const text = JSON.stringify(json);
    expect(text).toContain('only for the page of an MCP app');
    const sent = json.tools.filter(({ left }: { left?: string }) => left === undefined);
    expect(sent.map(({ wireName }: { wireName: string }) => wireName).sort()).toEqual(forModels);
  });

  it('cannot call them from code', async () => {
    const made = { description: 'Refreshes.', parameters: [], implementation: 'return await tools.refresh({});', uses: ['chart.refresh'] };
    const { status, json } = await service.call('PUT', '/v1/tools/made.refresher', made);
    expect(status).toBe(422);
    expect(JSON.stringify(json)).toContain('only for the page of an MCP app');
  });
});
