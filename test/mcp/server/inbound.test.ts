import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { describe, expect, it } from 'vitest';
import { createHarness, demo } from '../../http/harness.ts';

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

/** The SDK's server is what clients are tried against, so it decides what is refused, and how. */
describe('a request of 2026-07-28', () => {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: 'sdk', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [] }));
    server.setRequestHandler('tools/call', () => ({ content: [] }));
    return server;
  });
  const outcomeOf = async (response: Response): Promise<unknown> => {
    const text = await response.text();
    const last = text.includes('data: ') ? (text.split('data: ').at(-1) ?? '') : text;
    const { error } = text === '' ? {} : JSON.parse(last);
    return { status: response.status, code: error?.code ?? null };
  };

  it.each<[string, Sent]>([
    ['a call', call('shell', { command: 'ls' })],
    ['a call without arguments', call('shell')],
    ['a call with a text id', call('shell', {}, { body: { id: 'a' } })],
    ['a call of a client without a name', call('shell', {}, { meta: { [`${protocol}/clientInfo`]: undefined } })],
    ['a call with members for its server', call('shell', {}, { meta: { traceparent: '00-1' } })],
    [
      'a call of a client that answers questions',
      call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: { elicitation: { form: {} } } } }),
    ],
    ['a list', list()],
    ['a call with a progress token', call('shell', {}, { meta: { progressToken: 1 } })],
    ['a call with a log level', call('shell', {}, { meta: { [`${protocol}/logLevel`]: 'info' } })],
    ['a call as a task', call('shell', {}, { params: { task: {} } })],
    ['a notification', call('shell', {}, { body: { id: undefined } })],
    ['a call with a broken id', call('shell', {}, { body: { id: 1.5 } })],
    ['a call with the id null', call('shell', {}, { body: { id: null } })],
    ['another version of JSON-RPC', call('shell', {}, { body: { jsonrpc: '1.0' } })],
    ['another member', call('shell', {}, { body: { more: 1 } })],
    ['another method', message('ping', { _meta: envelope }, {}, {})],
    ['another revision in the header', call('shell', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } })],
    ['no revision in the header', call('shell', {}, { headers: { 'mcp-protocol-version': undefined } })],
    ['another revision in the body', call('shell', {}, { meta: { [`${protocol}/protocolVersion`]: '2025-11-25' } })],
    ['no revision in the body', call('shell', {}, { meta: { [`${protocol}/protocolVersion`]: undefined } })],
    ['another method in the header', call('shell', {}, { headers: { 'mcp-method': 'tools/list' } })],
    ['no method in the header', call('shell', {}, { headers: { 'mcp-method': undefined } })],
    ['another name in the header', call('shell', {}, { headers: { 'mcp-name': 'other' } })],
    ['no name in the header', call('shell', {}, { headers: { 'mcp-name': undefined } })],
    ['an encoded name', call('shell', {}, { headers: { 'mcp-name': '=?base64?c2hlbGw=?=' } })],
    ['a name that looks encoded', call('=?base64?c2hlbGw=?=', {})],
    ['broken capabilities', call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: { elicitation: 5 } } })],
    ['no capabilities', call('shell', {}, { meta: { [`${protocol}/clientCapabilities`]: undefined } })],
    ['a broken client', call('shell', {}, { meta: { [`${protocol}/clientInfo`]: { name: 5 } } })],
    ['arguments in a list', call('shell', [])],
    ['arguments null', call('shell', null)],
    ['a name that is a number', call('shell', {}, { params: { name: 5 } })],
    ['a list with another member', list({ more: 1 })],
    ['a batch of a request with an envelope', { ...call('shell'), body: [call('shell').body] as never }],
    [
      'a revision to come',
      call('shell', {}, { meta: { [`${protocol}/protocolVersion`]: '2099-01-01' }, headers: { 'mcp-protocol-version': '2099-01-01' } }),
    ],
    ['a broken log level', call('shell', {}, { meta: { [`${protocol}/logLevel`]: 'loud' } })],
    ['a broken encoding of the name', call('shell', {}, { headers: { 'mcp-name': '=?base64?%%?=' } })],
    ['initialize with the header of this revision', message('initialize', {}, {}, {})],
  ])('is accepted or refused as by the SDK: %s', async (_what, { headers, body }) => {
    const harness = createHarness();
    await harness.send('PUT', '/v1/toolsets/demo', demo);
    const request = new Request('https://sdk.test/mcp', { method: 'POST', headers, body: JSON.stringify(body) });
    const expected = await outcomeOf(await handler.fetch(request));
    expect(await outcomeOf(await harness.send('POST', '/mcp/demo', body, headers))).toEqual(expected);
  });
});
