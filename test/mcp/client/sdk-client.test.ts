/** The same calls through our client and through the client of the SDK: what both send, and which responses both refuse. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { version } from '../../../src/core/version.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import type { UpstreamHooks } from '../../../src/ports/upstream.ts';
import { type FakeMcpServer, type FakeTool, type HeardRequest, listenMcpServer } from '../../fakes/mcp-server.ts';
import { events, type Message, result, scriptMcp } from '../../fakes/mcp-script.ts';
import { accessTo, callOf, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

type Era = 'modern' | 'legacy';
const eras = ['modern', 'legacy'] as const;
const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, count: { type: 'integer' } } };
const capabilities = { elicitation: { form: {} } };
const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function callWithSdk(
  era: Era,
  fetch: (request: Request) => Promise<Response>,
  url: string,
  args: Record<string, unknown>,
  tool = 'echo',
) {
  const negotiation = { versionNegotiation: { mode: era === 'modern' ? ({ pin: '2026-07-28' } as const) : era } };
  const client = new Client(
    { name: 'moniker', version },
    { capabilities: era === 'modern' ? { ...capabilities, ...tasks } : capabilities, ...negotiation },
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), { fetch: (input, init) => fetch(new Request(input, init)) });
  try {
    await client.connect(transport);
    const toolDefinition = { name: tool, inputSchema: inputSchema as never };
    return await client.callTool({ name: tool, arguments: args }, { toolDefinition, onprogress: () => undefined, timeout: 2_000 });
  } finally {
    await client.close();
  }
}

async function callWithOurs(
  era: Era,
  fetch: (request: Request) => Promise<Response>,
  url: string,
  args: Record<string, unknown>,
  tool = 'echo',
) {
  const hooks: UpstreamHooks = { askable: capabilities, ask: async () => ({ action: 'cancel' }) };
  const call = callOf(tool, args, { inputSchema });
  return await createMcpUpstream().callTool(accessTo(url, { mcp: { era } }), call, hooks, contextWith({ fetch }));
}

/** Without what differs between any two clients. */
function comparable({ body, headers }: HeardRequest) {
  const { id, ...message } = body as { id?: unknown; params?: { _meta?: Record<string, unknown> } };
  const meta = message.params?._meta;
  if (meta?.progressToken !== undefined) expect(meta.progressToken).toBe(id);
  const params = message.params && { ...message.params, ...(meta && { _meta: { ...meta, progressToken: 0 } }) };
  const named = Object.entries(headers).filter(([name]) => /^(mcp-|accept$|content-type$)/.test(name) && name !== 'mcp-session-id');
  return {
    headers: Object.fromEntries(named),
    isRequest: id !== undefined,
    hasSession: headers['mcp-session-id'] !== undefined,
    message: { ...message, params },
  };
}

describe.each(eras)('a call of a %s server', (era) => {
  it.each<[string, Record<string, unknown>]>([
    ['plain arguments', { region: 'eu', count: 1 }],
    ['arguments that a header cannot carry', { region: ' Zoë ', count: Number.MAX_SAFE_INTEGER + 1 }],
    ['arguments that look encoded', { region: '=?base64?eA==?=' }],
    ['empty and absent arguments', { region: '' }],
  ])('sends what the client of the SDK sends: %s', async (_what, args) => {
    const heard: HeardRequest[][] = [];
    for (const call of [callWithOurs, callWithSdk]) {
      const server = await listenMcpServer({ tools: [{ name: 'größe', inputSchema }] as FakeTool[], eras: era });
      open.push(server);
      await call(era, (request) => fetch(request), server.url, args, 'größe');
      heard.push(server.heard.filter(({ httpMethod }) => httpMethod === 'POST'));
    }
    const [ours = [], sdk = []] = heard.map((requests) => requests.map(comparable));
    expect(ours).toEqual(sdk);
    expect(ours.length).toBe(era === 'modern' ? 2 : 3);
  });
});

const json = { headers: { 'content-type': 'application/json' } };
/** The client of the SDK requires `resultType`. */
const done = { content: [{ type: 'text', text: 'done' }], resultType: 'complete' };
/** `isAccepted`: whether the call has a result. `status`: of the problem, if it names one. */
const responses: [string, boolean, (message: Message) => Response][] = [
  ['a result', true, (message) => result(message, done)],
  ['a result in an event', true, ({ id }) => events([{ jsonrpc: '2.0', id, result: done }])],
  ['a batch with the result', true, ({ id }) => Response.json([{ jsonrpc: '2.0', id, result: done }])],
  ['an event that is not JSON before the result', true, ({ id }) => events(['data: ping\n\n', { jsonrpc: '2.0', id, result: done }])],
  [
    'a content type with a parameter',
    true,
    ({ id }) =>
      new Response(JSON.stringify({ jsonrpc: '2.0', id, result: done }), {
        headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      }),
  ],
  ['no JSON-RPC version', false, ({ id }) => Response.json({ id, result: done })],
  ['an unknown member', false, ({ id }) => Response.json({ jsonrpc: '2.0', id, result: done, extra: 1 })],
  ['a result that is a list', false, ({ id }) => Response.json({ jsonrpc: '2.0', id, result: [] })],
  ['neither result nor error', false, ({ id }) => Response.json({ jsonrpc: '2.0', id })],
  ['broken JSON', false, () => new Response('{', json)],
  ['HTML', false, () => new Response('<p>', { headers: { 'content-type': 'text/html' } })],
  ['no content type', false, () => new Response(new Uint8Array(2))],
  ...[400, 401, 403, 404, 405, 429, 500, 503].map((status): (typeof responses)[number] => [
    String(status),
    false,
    () => new Response('no', { status }),
  ]),
  ['a redirect to another origin', false, () => new Response(null, { status: 307, headers: { location: 'https://other.test/' } })],
];

describe.each(eras)('the response of a %s server', (era) => {
  it.each(responses)('is refused or accepted as by the client of the SDK: %s', async (_what, isAccepted, respond) => {
    for (const call of [callWithOurs, callWithSdk]) {
      const discovered = {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {} },
        ttlMs: 0,
        cacheScope: 'private',
      };
      const scripted = scriptMcp(({ message }) => {
        if (message?.method === 'server/discover') return result(message, discovered);
        return message?.method === 'tools/call' ? respond(message) : undefined;
      });
      const called = call(era, (request) => scripted.handle(request), 'https://mcp.example.com/mcp', {});
      const outcome = await called.then(
        (answer) => JSON.stringify(answer).includes('done'),
        () => false,
      );
      expect([call.name, outcome]).toEqual([call.name, isAccepted]);
      // A refused call is not repeated by itself.
      expect(scripted.heard.filter(({ message }) => message?.method === 'tools/call')).toHaveLength(1);
    }
  });

  it('that is an error without an id fails the call at once, which the client of the SDK waits for', async () => {
    const scripted = scriptMcp(({ message }) => {
      if (message?.method === 'server/discover')
        return result(message, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
      return message?.method === 'tools/call'
        ? Response.json({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'unreadable' } })
        : undefined;
    });
    const answer = await callWithOurs(era, (request) => scripted.handle(request), 'https://mcp.example.com/mcp', {});
    expect(answer).toMatchObject({
      result: { isError: true, content: [{ text: 'echo failed: its server returned error -32700: "unreadable".' }] },
    });
  });
});

it('A server of 2026-07-28 that answers an unknown method with 404 has answered the request', async () => {
  const error = { code: -32601, message: 'Method not found' };
  const scripted = scriptMcp(({ message }) => {
    if (message?.method === 'server/discover')
      return result(message, { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: {} } });
    if (message?.method === 'resources/list') return result(message, { resources: [] });
    return message?.method === 'resources/templates/list'
      ? Response.json({ jsonrpc: '2.0', id: message.id, error }, { status: 404 })
      : undefined;
  });
  const discovery = await createMcpUpstream().discover(
    accessTo('https://mcp.example.com/mcp', { mcp: {} }),
    contextWith({ fetch: (request) => scripted.handle(request) }),
  );
  expect(discovery).toMatchObject({ offers: { resourceTemplates: [] }, connection: { era: 'modern' } });
  expect(discovery.warnings).toBeUndefined();
});
