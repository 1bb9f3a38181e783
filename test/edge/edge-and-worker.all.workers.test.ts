/** The same definitions and requests, once through the Worker with its Durable Objects and once through the edge handler: equal answers. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createEdgeHandler, type EdgeHandler } from '../../src/edge.ts';
import { send } from '../objects/catalog/real-service.ts';
import { testEnv } from '../storage/workspace.ts';
import { edgeCalls, edgeProject, edgeUpstream } from './project.ts';

let handler: EdgeHandler;
/** Requests to upstreams since they were last taken. */
let sent: string[] = [];

beforeAll(async () => {
  vi.stubGlobal('fetch', async (request: Request) => {
    const headers = [...request.headers].filter(([name]) => !/^(x-moniker-hop|idempotency-key)$/.test(name));
    sent.push(`${request.method} ${request.url} ${JSON.stringify(headers)} ${await request.clone().text()}`);
    return await edgeUpstream(request);
  });
  const { secrets, providers, modelAliases, servers, tools, toolAliases, workspace, toolsets } = edgeProject;
  const withHosts = { ...secrets, UP: { ...secrets.UP, hosts: ['up.example.com'] } };
  await putAll('/v1/secrets', withHosts);
  await putAll('/v1/providers', providers);
  await putAll('/v1/model-aliases', modelAliases);
  await putAll('/v1/servers', servers);
  await putAll('/v1/tools', tools);
  for (const [canonical, document] of Object.entries(toolAliases)) await put(`/v1/tools/${canonical}/aliases`, document);
  await put('/v1/workspaces/default', workspace);
  await putAll('/v1/toolsets', toolsets);
  const { MONIKER_ROOT_KEY, MONIKER_MASTER_KEY } = testEnv as Record<string, string>;
  handler = await createEdgeHandler({ project: edgeProject, env: { MONIKER_ROOT_KEY, MONIKER_MASTER_KEY, MONIKER_LOG: 'error' } });
});

afterAll(() => vi.unstubAllGlobals());

async function putAll(path: string, documents: object): Promise<void> {
  for (const [name, document] of Object.entries(documents)) await put(`${path}/${name}`, document);
}

async function put(path: string, document: unknown): Promise<void> {
  const response = await send('PUT', path, document);
  expect(response.status, `${path} ${await response.clone().text()}`).toBeLessThan(300);
}

type Asked = { method?: string; path: string; body?: unknown; headers?: Record<string, string> };

/** What a client sees and what upstreams receive, without ids and times. */
async function compare({ method = 'POST', path, body, headers = {} }: Asked): Promise<void> {
  const answers: unknown[] = [];
  const ways = [
    () => send(method, path, body, headers),
    () =>
      handler(
        new Request(`http://localhost${path}`, {
          method,
          headers: { authorization: `Bearer ${testEnv.MONIKER_ROOT_KEY}`, 'content-type': 'application/json', ...headers },
          body: body === undefined ? null : JSON.stringify(body),
        }),
      ),
  ];
  for (const way of ways) {
    sent = [];
    const response = await way();
    const text = await response.text();
    answers.push({
      status: response.status,
      edition: response.headers.get('x-moniker-edition'),
      type: response.headers.get('content-type'),
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(neutral(text)) : neutral(text),
      sent: sent.map(neutral),
    });
  }
  expect(answers[1], path).toEqual(answers[0]);
}

function neutral(text: string): string {
  return text
    .replaceAll(/^id: .*\n/gm, '')
    .replaceAll(/(_[a-z0-9]{32})_[\w-]{43}/g, '$1')
    .replaceAll(/_[a-z0-9]{32}\b/g, '_id')
    .replaceAll(/_[a-z0-9]{32}_/g, '_id_')
    .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
    .replaceAll(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replaceAll(/"(createdAt|updatedAt|checkedAt|listedAt)":"[^"]*"/g, '"$1":""');
}

describe('the edge handler and the Worker', () => {
  it('give every tool the same names and definitions, for each provider', async () => {
    for (const toolset of Object.keys(edgeProject.toolsets))
      for (const provider of ['up', 'claude', 'gem', 'answers'])
        await compare({ method: 'GET', path: `/v1/toolsets/${toolset}/tools?provider=${provider}` });
  });

  it('resolve the same names to the same tools', async () => {
    for (const { toolset, name } of edgeCalls) await compare({ method: 'GET', path: `/v1/toolsets/${toolset}/resolve?name=${name}` });
  });

  it('return the same results, and send the same requests to servers', async () => {
    for (const { toolset, ...call } of edgeCalls) await compare({ path: `/v1/toolsets/${toolset}/calls`, body: call });
  });

  it('predict the same verdicts', async () => {
    for (const { toolset, ...call } of edgeCalls) await compare({ path: `/v1/toolsets/${toolset}/calls?dryRun=true`, body: call });
  });

  it('list and call the same tools over MCP, with and without the header of a revision', async () => {
    const accept = 'application/json, text/event-stream';
    const legacy = { accept, 'mcp-protocol-version': '2025-06-18' };
    for (const toolset of ['named', 'wide']) {
      await compare({ path: `/mcp/${toolset}`, body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, headers: legacy });
      const envelope = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const headers = { accept, 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: envelope } };
      await compare({ path: `/mcp/${toolset}`, body, headers });
    }
    for (const { toolset, ...params } of edgeCalls.filter(({ toolset }) => toolset === 'named' || toolset === 'wide'))
      await compare({ path: `/mcp/${toolset}`, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers: legacy });
  });

  it('translate requests of every dialect for every provider alike', async () => {
    const weather = { name: 'weather', description: 'Tells the weather.', parameters: { type: 'object', properties: {} } };
    const said = [{ role: 'user', content: 'Hello' }];
    for (const model of ['fast', 'smart', 'up/m', 'gem/g', 'answers/a', 'rehearsal/default', 'nobody/m']) {
      const tool = { type: 'function', function: weather };
      await compare({ path: '/v1/chat/completions', body: { model, messages: said, tools: [tool], temperature: 0.5 } });
      await compare({ path: '/v1/responses', body: { model, input: 'Hello', tools: [{ type: 'function', ...weather, strict: false }] } });
      const input = { name: 'weather', description: 'Tells the weather.', input_schema: { type: 'object', properties: {} } };
      await compare({ path: '/v1/messages', body: { model, max_tokens: 50, messages: said, system: 'Be brief.', tools: [input] } });
    }
    for (const path of ['/v1/chat/completions', '/v1/messages'])
      await compare({ path, body: { model: 'fast', max_tokens: 50, messages: said, stream: true } });
    await compare({ path: '/v1/embeddings', body: { model: 'up/m', input: 'Hello' } });
    await compare({ path: '/v1/chat/completions', body: { model: 'fast' } });
  });

  it('run the same steps of a chat with tools, and give the same answers in every dialect', async () => {
    const content = '/facts.look_up {"topic": "bees"}\n/sum 6 * 7\n/nothing here';
    const model = 'rehearsal/default';
    for (const toolset of ['plain', 'named', 'wide', 'demand'])
      for (const stream of [false, true]) {
        await compare({ path: '/v1/chat/completions', body: { model, toolset, stream, messages: [{ role: 'user', content }] } });
        await compare({ path: '/v1/responses', body: { model, toolset, stream, input: content } });
        await compare({ path: '/v1/messages', body: { model, toolset, stream, max_tokens: 900, messages: [{ role: 'user', content }] } });
      }
    const messages = [{ role: 'user', content: 'Hello' }];
    for (const provider of ['up/m', 'nobody/m'])
      await compare({ path: '/v1/chat/completions', body: { model: provider, toolset: 'plain', messages } });
    await compare({ path: '/v1/chat/completions', body: { model: 'fast', toolset: 'missing', messages } });
  });

  it('list the same models, tools and servers', async () => {
    await compare({ method: 'GET', path: '/v1/models' });
    await compare({ method: 'GET', path: '/v1/tools?limit=100' });
    await compare({ method: 'GET', path: '/v1/servers/facts' });
    await compare({ method: 'GET', path: '/v1/servers/shop/tools' });
    await compare({ method: 'GET', path: '/v1/toolsets/wide' });
  });
});
