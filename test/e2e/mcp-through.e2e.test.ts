/**
 * MCP clients get from a toolset what they would get from its server directly: lists, results and errors are compared field by field, for
 * both eras, with a fake that uses every optional field. `mcp-real-servers.all.e2e.test.ts` does the same with servers as users run them.
 */
import type { Client } from '@modelcontextprotocol/client';
import { inputRequired, ProtocolError } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenMcpServer, type FakeMcpServer, type FakeTool } from '../fakes/mcp-server.ts';
import { connectBoth, listed, offerAll, outcome } from './mcp-through.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
const eras = ['legacy', 'pinned'] as const;
const icon = { src: 'data:image/png;base64,AA==', mimeType: 'image/png', sizes: ['16x16'] };
const png = Buffer.alloc(120_000, 7).toString('base64');
const long = 'A line of a long text.\n'.repeat(12_000);
const rows = Array.from({ length: 4_000 }, (_, id) => ({ id, name: `row number ${id}` }));
const rpc = (code: number, message: string, data?: unknown) => {
  throw new ProtocolError(code, message, data);
};

const plain = (name: string, answer: FakeTool['answer'], more: Record<string, unknown> = {}): FakeTool => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: {} },
  annotations: { readOnlyHint: true },
  ...(answer && { answer }),
  ...more,
});
const text = (value: string) => ({ type: 'text', text: value });

const tools: FakeTool[] = [
  plain('image', () => ({ content: [text('A screenshot.'), { type: 'image', data: png, mimeType: 'image/png', _meta: { page: 1 } }] })),
  plain('audio', () => ({ content: [{ type: 'audio', data: png, mimeType: 'audio/wav' }] })),
  plain('file', () => ({
    content: [{ type: 'resource', resource: { uri: 'file:///a.png', mimeType: 'image/png', blob: png, _meta: { a: 1 } } }],
  })),
  plain('bytes', () => ({
    content: [text('\ufeffWindows\r\n\u001b[31mred\u001b[0m so\u00adft \u200f \u202e ❤\ufe0f \u{e0041} \u0000 \ud800')],
    structuredContent: { 'na\u00adme': 'va\u200blue\r\n' },
  })),
  plain('empty', () => ({ content: [] })),
  plain('empty-failed', () => ({ content: [], isError: true })),
  plain('only-data', () => ({ content: [], structuredContent: { a: 1 } })),
  plain('annotated', () => ({
    content: [{ ...text('a'), annotations: { audience: ['user'], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' } }],
  })),
  plain('long-error', () => rpc(-32_000, `kubectl: ${'a line of its output\n'.repeat(100)}`)),
  plain('long', () => ({ content: [text(long)] })),
  plain('rows', () => ({ content: [text(JSON.stringify({ rows }))], structuredContent: { rows } }), {
    outputSchema: { type: 'object', properties: { rows: { type: 'array' } }, required: ['rows'] },
  }),
  plain('failed', () => ({ isError: true, content: [text('no such city')], structuredContent: { reason: 'city' }, _meta: { trace: 'x' } })),
  plain('meta', () => ({ content: [{ ...text('a'), _meta: { source: 'b' } }], _meta: { 'example.com/cost': 3 } })),
  plain('link', () => ({ content: [{ type: 'resource_link', uri: 'file:///a', name: 'a', title: 'A', icons: [icon], _meta: { b: 2 } }] })),
  plain('missing', () => rpc(-32_002, 'Resource not found', { uri: 'file:///none' })),
  plain('invalid', () => rpc(-32_602, 'Bad month', { field: 'month' })),
  plain('own-code', () => rpc(-32_055, 'Quota exceeded', { retryAfter: 30 })),
  plain('capability', () => rpc(-32_021, 'Missing capability', { requiredCapabilities: { sampling: {} } })),
  plain('internal', () => rpc(-32_603, 'Out of memory', { at: 'row 3' })),
  plain('no-method', () => rpc(-32_601, 'Method not found')),
  plain('header', () => rpc(-32_020, 'Header mismatch', { header: 'x' })),
  plain('roots', async (_, { mcpReq }) => {
    const asked = { method: 'roots/list' } as const;
    // 2026-07-28 has no requests of servers: the result asks, and the client repeats the call.
    if (mcpReq.envelope === undefined) return { content: [text(JSON.stringify(await mcpReq.send(asked)))] };
    const given = mcpReq.inputResponses?.roots;
    return given === undefined ? inputRequired({ inputRequests: { roots: asked as never } }) : { content: [text(JSON.stringify(given))] };
  }),
  plain('app', () => ({ content: [text('shown')] }), {
    title: 'An app',
    icons: [icon],
    execution: { taskSupport: 'optional' },
    _meta: { ui: { resourceUri: 'ui://app/view.html' }, 'example.com/kind': 'chart' },
  }),
];
/** Members with the names of those that a toolset writes. */
const sameNames = plain('same-names', () => ({ content: [], isError: true, _meta: { code: 7, via: 'a', 'server/via': 'b', state: 'c' } }), {
  _meta: { canonical: 'theirs', aliases: { a: 1 }, state: 'new' },
});

describe.each(eras)('through a toolset, a client of the era %s', (era) => {
  const name = `fake-${era}`;
  let fake: FakeMcpServer;
  let direct: Client;
  let through: Client;
  beforeAll(async () => {
    fake = await listenMcpServer({
      tools: [...tools, sameNames],
      eras: era === 'legacy' ? 'legacy' : 'modern',
      instructions: 'Ask for the month first.',
    });
    await offerAll(service, name, fake.url);
    ({ direct, through } = await connectBoth(service, name, fake.url, { era, roots: true }));
  });
  afterAll(async () => {
    await Promise.all([direct.close(), through.close()]);
    await fake.close();
  });

  it('gets the same tools, with title, icons, execution and the page of an app', async () => {
    const [own, ours] = [await listed(direct), await listed(through)];
    own.delete(sameNames.name);
    for (const [tool, definition] of own) expect(ours.get(tool), tool).toMatchObject(definition as object);
    expect(ours.get('app')).toMatchObject({ title: 'An app', _meta: { ui: { resourceUri: 'ui://app/view.html' } } });
  });

  it.each(tools.map((tool) => [tool.name]))('gets the same result of %s', async (tool) => {
    const own = await outcome(direct, tool);
    expect(await outcome(through, tool)).toEqual(own);
  });

  it('gets the members of _meta that have names of the toolset’s own, beside those', async () => {
    const tool = (await through.listTools()).tools.find(({ name: listed }) => listed === sameNames.name);
    expect(tool?._meta).toEqual({
      ...{ canonical: `${name}.same-names`, aliases: [] },
      ...{ 'server/canonical': 'theirs', 'server/aliases': { a: 1 }, state: 'new' },
    });
    const { _meta } = await through.callTool({ name: sameNames.name, arguments: {} });
    expect(_meta).toMatchObject({
      ...{ requested: 'same-names', canonical: `${name}.same-names`, code: 'tool_error', state: 'c' },
      ...{ 'server/code': 7, 'server/via': 'a', 'server/server/via': 'b' },
    });
  });

  it('sends the _meta of its request to the server', async () => {
    const meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'example.com/user': 'u' };
    await outcome(through, 'meta', {}, meta);
    expect(fake.heard.findLast(({ method }) => method === 'tools/call')?.body).toMatchObject({ params: { _meta: meta } });
  });

  it('gets the instructions of a trusted server', () => {
    expect(through.getInstructions()).toContain('Ask for the month first.');
  });

  it('gets whole results over REST too', async () => {
    const { json } = await service.call('POST', `/v1/toolsets/${name}/calls`, { name: 'rows', arguments: {} });
    expect(json).toMatchObject({ isError: false, structuredContent: { rows } });
    const image = await service.call('POST', `/v1/toolsets/${name}/calls`, { name: 'image', arguments: {} });
    expect(image.json).toMatchObject({ isError: false, content: [text('A screenshot.'), { type: 'image', data: png }] });
  });
});
