/** Clients that only know HTTP+SSE (revision 2024-11-05): the SDK's own transport, and the stream as raw bytes. */
import { Client, SSEClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { SseParser, type SseMessage } from '../../src/net/sse.ts';
import { type FakeTool, listenMcpServer } from '../fakes/mcp-server.ts';
import { textOf } from './mcp-clients.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const toolset = {
  tools: [
    { tool: 'builtin.bash', aliases: ['shell', 'terminal'] },
    { tool: 'builtin.delete_file', approval: 'always' },
  ],
};
const initialize = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
const readTimeoutMs = 20_000;

beforeAll(async () => {
  expect((await service.call('PUT', '/v1/toolsets/old', toolset)).status).toBe(201);
});

const headersOf = (key: string) => ({ authorization: `Bearer ${key}` });
const rpc = (id: number, method: string, params: Record<string, unknown> = {}) => ({ jsonrpc: '2.0', id, method, params });

async function connect(capabilities: Record<string, unknown> = {}, prepare: (client: Client) => void = () => {}, path = '/sse/old') {
  const client = new Client({ name: 'old', version: '1.0.0' }, { capabilities });
  prepare(client);
  await client.connect(new SSEClientTransport(new URL(service.url + path), { requestInit: { headers: headersOf(service.key) } }));
  return client;
}

/** A connection read by hand. */
async function openStream(key = service.key, headers: Record<string, string> = {}, path = '/sse/old') {
  const end = new AbortController();
  const response = await fetch(service.url + path, {
    headers: { ...headersOf(key), accept: 'text/event-stream', ...headers },
    signal: end.signal,
  });
  const reader = response.body?.getReader();
  const parser = new SseParser();
  const waiting: SseMessage[] = [];
  const next = async (): Promise<SseMessage> => {
    const deadline = AbortSignal.timeout(readTimeoutMs);
    for (;;) {
      const message = waiting.shift();
      if (message !== undefined) return message;
      deadline.throwIfAborted();
      const { done, value } = (await reader?.read()) ?? { done: true };
      if (done || value === undefined) throw new Error('the stream has ended');
      waiting.push(...parser.push(value));
    }
  };
  return { response, next, leave: () => end.abort() };
}

async function post(endpoint: string, message: unknown, key = service.key) {
  const response = await fetch(service.url + endpoint, {
    method: 'POST',
    headers: { ...headersOf(key), 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
  return { status: response.status, text: await response.text() };
}

describe('a client of HTTP+SSE', () => {
  it.each(['/sse/old', '/sse/default/old'])('lists and calls tools at %s', async (path) => {
    const client = await connect({}, () => {}, path);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['shell', 'delete_file']);
    expect(textOf((await client.callTool({ name: 'terminal', arguments: { command: 'echo $((6*7))' } })) as never)).toContain('42');
    await client.close();
  });

  it('is served with the SDK of before, and at /sse without a toolset', async () => {
    const client = new EarlierClient({ name: 'old', version: '1.0.0' });
    await client.connect(new EarlierTransport(new URL(`${service.url}/sse`), { requestInit: { headers: headersOf(service.key) } }));
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('list-available-tools');
    await client.close();
  });

  it('is asked for approvals, and receives list changes', async () => {
    const asked: string[] = [];
    const changed = Promise.withResolvers<void>();
    const client = await connect({ elicitation: { form: {} } }, (own) => {
      own.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return { action: 'accept', content: { approve: true } };
      });
      own.setNotificationHandler('notifications/tools/list_changed', async () => changed.resolve());
    });
    const result = await client.callTool({ name: 'delete_file', arguments: { path: 'gone.txt' } });
    expect(asked).toEqual([expect.stringContaining('{"path":"gone.txt"}')]);
    expect(result._meta).toMatchObject({ canonical: 'builtin.delete_file' });
    const change = { tools: [...toolset.tools, { tool: 'builtin.read_file' }] };
    expect((await service.call('PUT', '/v1/toolsets/old', change, { 'if-match': '*' })).status).toBe(200);
    await changed.promise;
    expect((await client.listTools()).tools).toHaveLength(3);
    expect((await service.call('PUT', '/v1/toolsets/old', toolset, { 'if-match': '*' })).status).toBe(200);
    await client.close();
  });

  it('continues its session after a broken connection, and gets what it missed', async () => {
    const first = await openStream();
    const hello = await first.next();
    expect(hello).toMatchObject({ event: 'endpoint', data: expect.stringMatching(/^\/sse\/old\?sessionId=[0-9a-f]{32}$/) });
    expect((await post(hello.data, rpc(1, 'initialize', initialize))).status).toBe(202);
    const begun = await first.next();
    expect(JSON.parse(begun.data)).toMatchObject({ id: 1, result: { protocolVersion: '2024-11-05' } });
    expect((await post(hello.data, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    await post(hello.data, rpc(2, 'tools/call', { name: 'shell', arguments: { command: 'echo kept > note.txt' } }));
    const second = await first.next();
    expect(JSON.parse(second.data)).toMatchObject({ id: 2 });
    first.leave();

    const again = await openStream(service.key, { 'last-event-id': begun.id ?? '' });
    const back = await again.next();
    expect(back).toMatchObject({ event: 'endpoint', data: hello.data });
    expect(JSON.parse((await again.next()).data)).toMatchObject({ id: 2 });
    await post(back.data, rpc(3, 'tools/call', { name: 'shell', arguments: { command: 'cat note.txt' } }));
    expect((await again.next()).data).toContain('kept');
    again.leave();

    // A restart forgets the connection, but not the session.
    await service.restart();
    const restarted = await openStream(service.key, { 'last-event-id': second.id ?? '' });
    const { data: endpoint } = await restarted.next();
    await post(endpoint, rpc(4, 'tools/call', { name: 'shell', arguments: { command: 'cat note.txt' } }));
    expect((await restarted.next()).data).toContain('kept');
    restarted.leave();
  });

  it('gets the progress of a call', async () => {
    const steps: FakeTool = {
      ...{ name: 'steps', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
      async answer(_args, { mcpReq }) {
        const { progressToken } = mcpReq._meta ?? {};
        for (const progress of progressToken === undefined ? [] : [1, 2])
          await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 2 } });
        return { content: [{ type: 'text', text: 'done' }] };
      },
    };
    const server = await listenMcpServer({ tools: [steps], eras: 'legacy' });
    expect((await service.call('PUT', '/v1/servers/steps', { kind: 'mcp', url: server.url, trusted: true })).status).toBe(201);
    expect((await service.call('PUT', '/v1/toolsets/steps', { tools: [{ tool: 'steps.steps' }] })).status).toBe(201);
    const client = await connect({}, () => {}, '/sse/steps');
    const seen: unknown[] = [];
    const call = { name: 'steps', arguments: {} };
    const result = await client.callTool(call, { onprogress: ({ progress, total }) => seen.push([progress, total]) });
    expect(textOf(result as never)).toBe('done');
    expect(seen.at(-1)).toEqual([2, 2]);
    await client.close();
    await server.close();
  });

  it.each([
    [
      'search',
      ['find_tools', 'describe_tool', 'call_tool'],
      { name: 'call_tool', arguments: { name: 'terminal', arguments: { command: 'echo $((6*7))' } } },
    ],
    ['code', ['run_code'], { name: 'run_code', arguments: { code: 'return (await tools.shell({ command: "echo $((6*7))" })).output' } }],
  ])('lists something smaller with ?tools=%s', async (tools, names, call) => {
    const client = await connect({}, () => {}, `/sse/old?tools=${tools}`);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(names);
    expect(textOf((await client.callTool(call)) as never)).toContain('42');
    await client.close();
    expect((await openStream(service.key, {}, '/sse/old?tools=everything')).response.status).toBe(422);
  });

  it('finds out how to sign in from the 401 of its path', async () => {
    for (const path of ['/sse/old', '/sse', '/sse/old?tools=code']) {
      const refused = await fetch(service.url + path, { headers: { accept: 'text/event-stream' } });
      expect(refused.status).toBe(401);
      const challenge = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? '';
      const { pathname } = new URL(path, service.url);
      expect(challenge).toBe(`${service.url}/.well-known/oauth-protected-resource${pathname}`);
      expect(await (await fetch(challenge)).json()).toMatchObject({
        resource: service.url + pathname,
        authorization_servers: [service.url],
      });
    }
  });

  it('is refused without a key, without the toolset, with the stream of another key, and on a stream that is not open', async () => {
    expect((await openStream('mk_default_wrong')).response.status).toBe(401);
    expect((await openStream(service.key, {}, '/sse/none')).response.status).toBe(404);
    expect((await openStream(service.key, { origin: 'https://elsewhere.example' })).response.status).toBe(403);
    const { json: other } = await service.call('POST', '/v1/keys', { name: 'other', scopes: ['tools'] });
    const own = await openStream();
    const { data: endpoint } = await own.next();
    expect((await post(endpoint, rpc(1, 'ping'), other.key)).status).toBe(404);
    expect(await post(endpoint, 'no object')).toMatchObject({ status: 202 });
    expect((await post(`/sse/old?sessionId=${'0'.repeat(32)}`, rpc(1, 'ping'))).status).toBe(404);
    expect((await post('/sse/old', rpc(1, 'ping'))).status).toBe(422);
    own.leave();
  });

  it('is told why a message is refused', async () => {
    const stream = await openStream();
    const { data: endpoint } = await stream.next();
    await post(endpoint, rpc(1, 'initialize', initialize));
    await stream.next();
    await post(endpoint, rpc(2, 'no/method'));
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ id: 2, error: { code: -32601 } });
    await post(endpoint, rpc(3, 'tools/call', { name: 'nothing' }));
    expect(JSON.parse((await stream.next()).data)).toMatchObject({ id: 3 });
    stream.leave();
  });
});
