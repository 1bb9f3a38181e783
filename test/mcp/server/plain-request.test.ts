import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { readPlainRequest } from '../../../src/mcp/server/plain-request.ts';
import { bodyOf, createHarness, demo, type Harness } from '../../http/harness.ts';

const protocol = 'io.modelcontextprotocol';
const envelope = {
  [`${protocol}/protocolVersion`]: '2026-07-28',
  [`${protocol}/clientInfo`]: { name: 'test', version: '1' },
  [`${protocol}/clientCapabilities`]: {},
};

type Sent = { headers: Record<string, string>; body: Record<string, unknown> };

function call(name: string, args?: unknown, change: { meta?: object; params?: object; body?: object; headers?: object } = {}): Sent {
  const params = { name, ...(args !== undefined && { arguments: args }), _meta: { ...envelope, ...change.meta }, ...change.params };
  return message('tools/call', params, { 'mcp-name': name }, change);
}

function list(params: object = {}, change: { meta?: object; body?: object; headers?: object } = {}): Sent {
  return message('tools/list', { ...params, _meta: { ...envelope, ...change.meta } }, {}, change);
}

function message(method: string, params: object, headers: object, change: { body?: object; headers?: object }): Sent {
  const own = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'mcp-protocol-version': '2026-07-28' };
  const all = Object.entries({ ...own, 'mcp-method': method, ...headers, ...change.headers }).filter(([, value]) => value !== undefined);
  return { headers: Object.fromEntries(all), body: { jsonrpc: '2.0', id: 1, method, params, ...change.body } };
}

describe('a plain request', () => {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', ({ params }) => ({ tools: [], seen: { cursor: params?.cursor } }));
    server.setRequestHandler('tools/call', ({ params }) => ({ content: [{ type: 'text', text: JSON.stringify(params) }] }));
    return server;
  });

  it.each<[string, boolean, Sent]>([
    ['a call', true, call('shell', { command: 'ls' })],
    ['a call without arguments', true, call('shell')],
    ['a call with a text id', true, call('shell', {}, { body: { id: 'a' } })],
    ['a call of a name with a space', true, call('my shell', {})],
    ['a call of a client without a name', true, call('shell', {}, { meta: { [`${protocol}/clientInfo`]: undefined } })],
    ['a call with members for its server', true, call('shell', {}, { meta: { traceparent: '00-1' } })],
    [
      'a call of a client that answers questions',
      true,
      call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: { elicitation: { form: {} } } } }),
    ],
    ['a list', true, list()],
    ['the next page of a list', true, list({ cursor: 'abc' })],
    ['a call with a progress token', false, call('shell', {}, { meta: { progressToken: 1 } })],
    ['a call with a log level', false, call('shell', {}, { meta: { [`${protocol}/logLevel`]: 'info' } })],
    ['a call with answers', false, call('shell', {}, { params: { inputResponses: {}, requestState: 'x' } })],
    ['a call as a task', false, call('shell', {}, { params: { task: {} } })],
    ['a notification', false, call('shell', {}, { body: { id: undefined } })],
    ['a call with a broken id', false, call('shell', {}, { body: { id: 1.5 } })],
    ['a call with the id null', false, call('shell', {}, { body: { id: null } })],
    ['another version of JSON-RPC', false, call('shell', {}, { body: { jsonrpc: '1.0' } })],
    ['another member', false, call('shell', {}, { body: { more: 1 } })],
    ['another method', false, message('ping', { _meta: envelope }, {}, {})],
    ['another revision in the header', false, call('shell', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } })],
    ['no revision in the header', false, call('shell', {}, { headers: { 'mcp-protocol-version': undefined } })],
    ['another revision in the body', false, call('shell', {}, { meta: { [`${protocol}/protocolVersion`]: '2025-11-25' } })],
    ['no revision in the body', false, call('shell', {}, { meta: { [`${protocol}/protocolVersion`]: undefined } })],
    ['another method in the header', false, call('shell', {}, { headers: { 'mcp-method': 'tools/list' } })],
    ['no method in the header', false, call('shell', {}, { headers: { 'mcp-method': undefined } })],
    ['another name in the header', false, call('shell', {}, { headers: { 'mcp-name': 'other' } })],
    ['no name in the header', false, call('shell', {}, { headers: { 'mcp-name': undefined } })],
    ['an encoded name', false, call('shell', {}, { headers: { 'mcp-name': '=?base64?c2hlbGw=?=' } })],
    ['a name that looks encoded', false, call('=?base64?c2hlbGw=?=', {})],
    ['broken capabilities', false, call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: { elicitation: 5 } } })],
    ['no capabilities', false, call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: undefined } })],
    ['a broken client', false, call('shell', {}, { meta: { [`${protocol}/clientInfo`]: { name: 5 } } })],
    ['arguments in a list', false, call('shell', [])],
    ['arguments null', false, call('shell', null)],
    ['a name that is a number', false, call('shell', {}, { params: { name: 5 } })],
    ['a cursor that is a number', false, list({ cursor: 5 })],
    ['a list with another member', false, list({ more: 1 })],
  ])('is one that the SDK passes to its handler unchanged: %s', async (_what, isPlain, { headers, body: sent }) => {
    const body: Record<string, unknown> = JSON.parse(JSON.stringify(sent));
    const plain = readPlainRequest(new Headers(headers), body);
    expect(plain !== null).toBe(isPlain);
    if (plain === null) return;
    const response = await handler.fetch(new Request('https://sdk.test/mcp', { method: 'POST', headers, body: JSON.stringify(body) }));
    const { id, result } = await bodyOf(response);
    expect([response.status, id]).toEqual([200, plain.id]);
    if (plain.method === 'tools/list') expect(result.seen).toEqual(JSON.parse(JSON.stringify({ cursor: plain.cursor })));
    else expect({ arguments: {}, ...JSON.parse(result.content[0].text) }).toMatchObject({ name: plain.name, arguments: plain.arguments });
  });
});

/** A progress token makes a request one for the SDK, and these tools report no progress. */
async function bothAnswers(harness: Harness, { headers, body }: Sent, more: Record<string, string> = {}) {
  const answers = [];
  for (const meta of [{}, { progressToken: 'token' }]) {
    const params = body.params as { _meta: object };
    const sent = { ...body, params: { ...params, _meta: { ...params._meta, ...meta } } };
    const response = await harness.send('POST', '/mcp/demo', sent, { ...headers, ...more });
    const text = await response.text();
    const { date: _date, 'x-request-id': _id, ...rest } = Object.fromEntries(response.headers);
    answers.push({ status: response.status, headers: rest, body: text.replaceAll(/req_\w+/g, 'req').replaceAll(/"durationMs":\d+/g, '') });
  }
  const [plain, sdk] = answers;
  if (plain === undefined || sdk === undefined) throw new Error('both were sent');
  return { plain: { ...plain, body: JSON.parse(plain.body) as unknown }, sdk: { ...sdk, body: JSON.parse(sdk.body) as unknown } };
}

describe('the answer to a plain request', () => {
  it.each<[string, Sent, Record<string, string>]>([
    ['a list', list(), {}],
    ['a list with an unknown cursor', list({ cursor: 'abc' }), {}],
    ['a call', call('shell', { command: 'ls' }), {}],
    ['a call by another name', call('terminal', { command: 'ls' }, { body: { id: 'text' } }), {}],
    ['an unknown tool', call('shel', {}), {}],
    ['invalid arguments', call('shell', { command: 5 }), {}],
    ['a broken name of files', call('read_file', { path: 'a' }), { 'x-moniker-session': '../x' }],
    ['a file that does not exist', call('read_file', { path: 'a' }), { 'x-moniker-session': 'notes' }],
    ['a foreign origin', list(), { origin: 'https://evil.example' }],
    ['no key', list(), { authorization: 'Bearer nothing' }],
  ])('is that of the SDK: %s', async (_what, sent, more) => {
    const harness = createHarness();
    await harness.send('PUT', '/v1/toolsets/demo', demo);
    const { plain, sdk } = await bothAnswers(harness, sent, more);
    expect(plain).toEqual(sdk);
  });

  it('is the same question if the call requires approval', async () => {
    const harness = createHarness();
    await harness.send('PUT', '/v1/toolsets/demo', { tools: [{ tool: 'builtin.bash', name: 'shell', aliases: [], approval: 'always' }] });
    const asking = { meta: { [`${protocol}/clientCapabilities`]: { elicitation: { form: {} } } } };
    const { plain, sdk } = await bothAnswers(harness, call('shell', { command: 'rm x' }, asking));
    const withoutState = (answer: typeof plain): unknown =>
      JSON.parse(JSON.stringify(answer, (name, value: unknown) => (name === 'requestState' ? '…' : value)));
    expect(withoutState(plain)).toEqual(withoutState(sdk));
    expect(plain.body).toMatchObject({ result: { resultType: 'input_required', requestState: expect.any(String) } });
  });
});
