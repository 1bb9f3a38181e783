/** The spans of whole stories as a collector receives them: their tree, their attributes, and that they have no content. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer } from '../fakes/mcp-server.ts';
import { startOtlpCollector, type OtlpCollector, type ReceivedSpan } from './otlp-collector.ts';
import { makeDataDir, removeDataDir, startService, type RunningService } from './service.ts';

const canary = 'canary-text-of-a-prompt';
const providerKey = 'sk-provider-key-0123456789';

let collector: OtlpCollector;
let hanging: OtlpCollector;
let upstream: FakeMcpServer;
let service: RunningService;
let providerUrl: string;
const providerHeaders: Record<string, unknown>[] = [];
const dataDirs: string[] = [];
const provider = createServer((request, response) => {
  let sent = '';
  request.on('data', (part: Buffer) => (sent += part.toString('utf8')));
  request.on('end', () => {
    providerHeaders.push(request.headers);
    if (JSON.parse(sent).model === 'broken') {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: `${canary} is not a key` } }));
      return;
    }
    if (JSON.parse(sent).stream === true) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'big' };
      const choice = { index: 0, delta: { role: 'assistant', content: canary }, finish_reason: null };
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}\n\n`);
      response.write(`data: ${JSON.stringify({ ...chunk, choices: [], usage: { prompt_tokens: 5, completion_tokens: 3 } })}\n\n`);
      response.end('data: [DONE]\n\n');
      return;
    }
    const message = { role: 'assistant', content: `${canary} again` };
    const reply = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model: 'big',
      usage: { prompt_tokens: 11, completion_tokens: 7 },
    };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...reply, choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  });
});

async function start(environment: Record<string, string>): Promise<RunningService> {
  const dataDir = makeDataDir();
  dataDirs.push(dataDir);
  return await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*', OTEL_BSP_SCHEDULE_DELAY: '100', ...environment });
}

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  providerUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`;
  [collector, hanging] = await Promise.all([startOtlpCollector(), startOtlpCollector({ respond: false })]);
  upstream = await listenMcpServer({
    tools: [{ name: 'look', inputSchema: { type: 'object' }, answer: () => ({ content: [{ type: 'text', text: 'seen' }] }) }],
  });
  service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=a%20b',
    OTEL_SERVICE_NAME: 'tested',
    MONIKER_METRICS: 'on',
  });
  const put = async (path: string, body: unknown) => expect((await service.call('PUT', path, body)).status, path).toBeLessThan(300);
  await put('/v1/servers/eyes', { kind: 'mcp', url: upstream.url, trusted: true });
  await put('/v1/providers/far', { kind: 'openai-compatible', baseUrl: providerUrl, models: ['big'], apiKey: providerKey });
  await put('/v1/toolsets/desk', {
    tools: [
      { tool: 'builtin.bash', aliases: ['shell'] },
      { tool: 'eyes.look', approval: 'never' },
    ],
  });
  await put('/v1/agents/clerk', { model: 'rehearsal/default', toolset: 'desk' });
});

afterAll(async () => {
  await service.stop();
  for (const server of [collector, hanging]) server.close();
  await upstream.close();
  provider.closeAllConnections();
  provider.close();
  for (const dataDir of dataDirs) removeDataDir(dataDir);
});

let traces = 0;
/** A caller's trace of its own for each story. */
function newTrace(): { id: string; traceparent: string } {
  traces += 1;
  const id = `4bf92f3577b34da6a3ce929d0e0e${String(traces).padStart(4, '0')}`;
  return { id, traceparent: `00-${id}-00f067aa0ba902b7-01` };
}

/** The tree of a trace, a line for each span, indented below its parent; waits until a span has arrived whose name starts with `last`. */
async function treeOf(trace: string, last: string): Promise<{ lines: string[]; spans: ReceivedSpan[] }> {
  const own = () => collector.spans.filter(({ traceId }) => traceId === trace);
  await expect.poll(() => own().map(({ name }) => name)).toContainEqual(expect.stringContaining(last));
  const spans = own();
  const below = (parent: string | undefined, depth: string): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .flatMap((span) => [`${depth}${span.name}`, ...below(span.spanId, `${depth}  `)]);
  return { lines: below('00f067aa0ba902b7', ''), spans };
}

const find = (spans: ReceivedSpan[], name: string) => spans.find((span) => span.name === name);

describe('the spans of', () => {
  it('a chat with an agent are one tree below the request, which continues the trace of the caller', async () => {
    const { id, traceparent } = newTrace();
    const body = { model: 'agent/clerk', messages: [{ role: 'user', content: `/shell echo ${canary}` }] };
    const { status, text } = await service.call('POST', '/v1/chat/completions', body, { traceparent });
    expect([status, text.includes(canary)]).toEqual([200, true]);
    await treeOf(id, 'POST /v1/chat');
    const { lines, spans } = await treeOf(id, 'invoke_agent');
    expect(lines).toEqual([
      'POST /v1/chat/completions',
      '  invoke_agent clerk',
      '    chat default',
      '    execute_tool builtin.bash',
      '    chat default',
    ]);
    expect(find(spans, 'execute_tool builtin.bash')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'builtin.bash',
      'gen_ai.tool.call.id': expect.stringMatching(/^call_/),
      'moniker.tool.requested': expect.any(String),
      'moniker.tool.verdict': 'ran',
    });
    expect(find(spans, 'invoke_agent clerk')?.attributes).toMatchObject({ 'gen_ai.agent.name': 'clerk', 'moniker.turn.outcome': 'ended' });
    expect(find(spans, 'chat default')?.attributes).toMatchObject({
      'gen_ai.provider.name': 'rehearsal',
      'gen_ai.usage.output_tokens': expect.any(Number),
    });
    expect(find(spans, 'POST /v1/chat/completions')).toMatchObject({ kind: 2, attributes: { 'http.response.status_code': 200 } });
  });

  it('a turn that waits for approval continue in the same trace when it resumes', async () => {
    const { id, traceparent } = newTrace();
    const tools = [{ tool: 'builtin.bash', aliases: ['shell'], approval: 'always' }];
    expect((await service.call('PUT', '/v1/toolsets/strict', { tools })).status).toBe(201);
    expect((await service.call('PUT', '/v1/agents/careful', { model: 'rehearsal/default', toolset: 'strict' })).status).toBe(201);
    const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'careful' });
    const path = `/v1/sessions/${session.id}`;
    const { json: turn } = await service.call('POST', `${path}/turns`, { input: `/shell echo ${canary}` }, { traceparent });
    expect(turn.status).toBe('waiting');
    const { status } = await service.call('POST', `${path}/approvals/${turn.pending[0].callId}`, { decision: 'approve' });
    expect(status).toBe(200);
    const runs = () => collector.spans.filter(({ traceId, name }) => traceId === id && name === 'invoke_agent careful');
    await expect.poll(() => runs().map(({ attributes }) => attributes['moniker.turn.outcome'])).toEqual(['waiting', 'ended']);
    const verdicts = collector.spans
      .filter(({ traceId, name }) => traceId === id && name.startsWith('execute_tool'))
      .map(({ attributes }) => attributes['moniker.tool.verdict']);
    expect(verdicts).toEqual(['waiting', 'ran']);
  });

  it('a forwarded chat have the usage of the reply, and the provider gets the trace', async () => {
    const { id, traceparent } = newTrace();
    const body = { model: 'far/big', messages: [{ role: 'user', content: canary }] };
    const { status, json } = await service.call('POST', '/v1/chat/completions', body, { traceparent, tracestate: 'vendor=secret' });
    expect([status, json.choices[0].message.content]).toEqual([200, `${canary} again`]);
    await treeOf(id, 'POST');
    const { lines, spans } = await treeOf(id, 'chat big');
    expect(lines).toEqual(['POST /v1/chat/completions', '  chat big']);
    const span = find(spans, 'chat big');
    expect(span?.attributes).toMatchObject({
      'gen_ai.provider.name': 'far',
      'gen_ai.request.model': 'big',
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 7,
    });
    expect(providerHeaders.at(-1)).toMatchObject({ traceparent: `00-${id}-${span?.spanId}-01` });
    expect(providerHeaders.at(-1)).not.toHaveProperty('tracestate');
  });

  it('a forwarded stream have its usage, and the client gets the bytes of the provider', async () => {
    const { id, traceparent } = newTrace();
    const body = { model: 'far/big', stream: true, stream_options: { include_usage: true }, messages: [{ role: 'user', content: canary }] };
    const { text } = await service.call('POST', '/v1/chat/completions', body, { traceparent });
    expect(text).toMatch(/data: \[DONE\]\s*$/);
    const { spans } = await treeOf(id, 'chat big');
    expect(find(spans, 'chat big')?.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 5,
      'gen_ai.usage.output_tokens': 3,
      'gen_ai.response.finish_reasons': ['stop'],
    });
  });

  it('the spans of a routed request and of a step say which target was asked, why, and which failed before', async () => {
    const targets = ['far/broken', 'far/big'].map((model) => ({ model }));
    expect((await service.call('PUT', '/v1/model-aliases/routed', { targets })).status).toBe(201);
    const first = 'far/broken; why=in-order; attempts=1';
    const second = expect.stringMatching(/^far\/big; why=fallback; attempts=2; failed="far\/broken:\w+"$/);
    const messages = [{ role: 'user', content: 'hello' }];
    const forwarded = newTrace();
    expect((await service.call('POST', '/v1/chat/completions', { model: 'routed', messages }, forwarded)).status).toBe(200);
    await treeOf(forwarded.id, 'POST');
    const chat = (await treeOf(forwarded.id, 'chat big')).spans;
    expect(find(chat, 'chat broken')?.attributes).toMatchObject({ 'moniker.target': first });
    expect(find(chat, 'chat big')?.attributes).toMatchObject({ 'moniker.target': second });
    expect(find(chat, 'POST /v1/chat/completions')?.attributes).toMatchObject({ 'moniker.target': second });
    const turn = newTrace();
    expect((await service.call('POST', '/v1/chat/completions', { model: 'routed', toolset: 'desk', messages }, turn)).status).toBe(200);
    await treeOf(turn.id, 'invoke_agent');
    const steps = (await treeOf(turn.id, 'chat big')).spans;
    // The target that failed is put aside.
    expect(find(steps, 'chat big')?.attributes).toMatchObject({ 'moniker.target': 'far/big; why=fallback; attempts=1' });
  });

  it('a turn whose model fails are marked with the code of the failure', async () => {
    const { id, traceparent } = newTrace();
    const body = { model: 'far/broken', toolset: 'desk', messages: [{ role: 'user', content: canary }] };
    expect((await service.call('POST', '/v1/chat/completions', body, { traceparent })).status).toBe(403);
    const { spans } = await treeOf(id, 'invoke_agent');
    for (const name of ['chat broken', 'invoke_agent far/broken'])
      expect(find(spans, name)).toMatchObject({ failed: true, attributes: { 'error.type': 'upstream_error' } });
    expect(find(spans, 'invoke_agent far/broken')?.attributes).toMatchObject({ 'moniker.turn.status': 'failed' });
  });

  it('a direct call of a session are in the trace of its request', async () => {
    const { id, traceparent } = newTrace();
    const { json: session } = await service.call('POST', '/v1/sessions', { agent: 'clerk' });
    const body = { name: 'shell', arguments: { command: `echo ${canary}` }, session: session.id };
    expect((await service.call('POST', '/v1/toolsets/desk/calls', body, { traceparent })).json).toMatchObject({ isError: false });
    await treeOf(id, 'POST');
    const { lines } = await treeOf(id, 'execute_tool');
    expect(lines).toEqual(['POST /v1/toolsets/{toolset}/calls', '  execute_tool builtin.bash']);
  });

  it('a call in an MCP session of 2025 are in the trace of its HTTP request', async () => {
    const { id, traceparent } = newTrace();
    const accept = { accept: 'application/json, text/event-stream' };
    const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const begun = await service.call('POST', '/mcp/desk', { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize }, accept);
    const session = { ...accept, 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' };
    const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'look', arguments: {} } };
    const { text } = await service.call('POST', '/mcp/desk', message, { ...session, traceparent });
    expect(text).toContain('seen');
    await treeOf(id, 'POST');
    const { lines } = await treeOf(id, 'execute_tool');
    await expect
      .poll(async () => (await treeOf(id, 'tools/call')).lines)
      .toEqual(['POST /mcp/{toolset}', '  tools/call look', '    execute_tool eyes.look', '      tools/call look']);
    expect(lines.length).toBeGreaterThan(0);
  });

  it('an MCP call continue the trace in _meta, through to the server', async () => {
    const { id, traceparent } = newTrace();
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
      traceparent,
    };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'look', arguments: {}, _meta: meta } };
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'look' };
    const { status, text } = await service.call('POST', '/mcp/desk', message, {
      accept: 'application/json, text/event-stream',
      ...headers,
    });
    expect([status, text]).toEqual([200, expect.stringContaining('seen')]);
    const { lines, spans } = await treeOf(id, 'tools/call');
    await treeOf(id, 'execute_tool');
    await expect.poll(() => collector.spans.filter(({ traceId }) => traceId === id).length).toBe(3);
    expect(lines.length === 3 ? lines : (await treeOf(id, 'execute_tool')).lines).toEqual([
      'tools/call look',
      '  execute_tool eyes.look',
      '    tools/call look',
    ]);
    const sent = upstream.heard.findLast(({ method }) => method === 'tools/call');
    // The server's span has the same name.
    const client = collector.spans.find((span) => span.traceId === id && span.name === 'tools/call look' && span.kind === 3);
    expect(JSON.stringify(sent)).toContain(`00-${id}-${client?.spanId}-01`);
    expect(spans.length).toBeGreaterThan(0);
  });

  it('nothing have a text of prompts, arguments or results, or a key', () => {
    expect(collector.raw.length).toBeGreaterThan(0);
    for (const text of collector.raw) {
      expect(text).not.toContain(canary);
      expect(text).not.toContain(providerKey);
      expect(text).not.toContain(service.key);
    }
    expect(collector.raw.some((text) => text.includes('"service.name","value":{"stringValue":"tested"}'))).toBe(true);
    expect(collector.headers[0]).toMatchObject({ 'x-collector-key': 'a b' });
  });
});

it('metrics are exported, and /metrics has them for an administrator', async () => {
  await expect
    .poll(() => [...collector.metrics])
    .toEqual(expect.arrayContaining(['gen_ai.client.inference.usage.input_tokens', 'http.server.request.duration']));
  const { status, text, headers } = await service.call('GET', '/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(text).toMatch(
    /^http_server_request_duration_seconds_count\{http_request_method="POST",http_route="\/v1\/chat\/completions".*\} \d+$/m,
  );
  expect(text).toMatch(
    /^gen_ai_client_inference_usage_input_tokens_total\{.*gen_ai_request_model="big".*gen_ai_token_modality="unknown"\} 32$/m,
  );
  expect(text).toMatch(/^moniker_tool_calls_total\{gen_ai_tool_name="builtin.bash",moniker_tool_verdict="ran"\} \d+$/m);
  expect(text).toMatch(/^moniker_live\{kind="turns"\} 0$/m);
  expect(text).not.toContain(canary);
  const { json: key } = await service.call('POST', '/v1/keys', { name: 'chat', scopes: ['chat'] });
  expect((await service.call('GET', '/metrics', undefined, { authorization: `Bearer ${key.key}` })).status).toBe(403);
  expect((await fetch(`${service.url}/metrics`)).status).toBe(401);
});

it('a collector that hangs delays nothing, an invalid traceparent starts a new trace, and /metrics is off by default', async () => {
  const other = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: hanging.url });
  try {
    const body = { model: 'rehearsal/default', messages: [{ role: 'user', content: 'hello' }] };
    for (const traceparent of ['garbage', '00-00000000000000000000000000000000-00f067aa0ba902b7-01', `00-${'a'.repeat(4_000)}`])
      expect((await other.call('POST', '/v1/chat/completions', body, { traceparent })).status).toBe(200);
    await expect.poll(() => hanging.raw.length).toBeGreaterThan(0);
    expect((await other.call('POST', '/v1/chat/completions', body)).status).toBe(200);
    expect(await other.call('GET', '/metrics')).toMatchObject({
      status: 404,
      json: { detail: expect.stringContaining('MONIKER_METRICS=on') },
    });
  } finally {
    await other.stop();
  }
});

it('a turn that waits continues in its trace after a restart', async () => {
  const { id, traceparent } = newTrace();
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
  const first = await start(environment);
  const tools = [{ tool: 'builtin.bash', aliases: ['shell'], approval: 'always' }];
  await first.call('PUT', '/v1/toolsets/strict', { tools });
  await first.call('PUT', '/v1/agents/careful', { model: 'rehearsal/default', toolset: 'strict' });
  const { json: session } = await first.call('POST', '/v1/sessions', { agent: 'careful' });
  const path = `/v1/sessions/${session.id}`;
  const { json: turn } = await first.call('POST', `${path}/turns`, { input: '/shell echo again' }, { traceparent });
  await first.stop('SIGKILL');
  const second = await startService(dataDirs.at(-1) ?? '', { OTEL_BSP_SCHEDULE_DELAY: '100', ...environment });
  try {
    const approved = await second.call('POST', `${path}/approvals/${turn.pending[0].callId}`, { decision: 'approve' });
    expect(approved.status).toBe(200);
    const ended = (span: ReceivedSpan) => span.traceId === id && span.attributes['moniker.turn.outcome'] === 'ended';
    await expect.poll(() => collector.spans.find(ended)).toMatchObject({ name: 'invoke_agent careful' });
  } finally {
    await second.stop();
  }
});
