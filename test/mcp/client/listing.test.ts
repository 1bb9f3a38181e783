/** Listing a server, listening for its changes, and all other requests except tool calls, in both eras. */
import { afterEach, describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { utf8Length } from '../../../src/core/text/utf8.ts';
import { version } from '../../../src/core/version.ts';
import { createMcpUpstream } from '../../../src/mcp/client/upstream.ts';
import { failure, result, scriptMcp } from '../../fakes/mcp-script.ts';
import { type FakeMcpServer, listenMcpServer, type McpServerParts } from '../../fakes/mcp-server.ts';
import { accessTo, contextWith } from './context.ts';

const open: FakeMcpServer[] = [];
const listenTo = async (parts: McpServerParts): Promise<FakeMcpServer> => {
  const server = await listenMcpServer(parts);
  open.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});
const tools = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, description: `Tool ${name}.`, inputSchema: { type: 'object' } }));
const prompts = [{ name: 'greet', arguments: [{ name: 'who' }] }];
const resources = [{ uri: 'test://one', name: 'one' }];

it('bounds the instructions of a server in bytes', async () => {
  const server = await listenTo({ tools, instructions: '€'.repeat(limits.maxServerInstructionBytes) });
  const { connection } = await createMcpUpstream().discover(accessTo(server.url), contextWith());
  expect(utf8Length(connection?.instructions ?? '')).toBeLessThanOrEqual(limits.maxServerInstructionBytes);
  expect(connection?.instructions).toMatch(/^€+$/u);
});

it('leaves out _meta of lists that is too long, and says so', async () => {
  const server = await listenTo({ tools, listMeta: { note: 'x'.repeat(5_000) } });
  const { connection, warnings } = await createMcpUpstream().discover(accessTo(server.url), contextWith());
  expect(connection?.listMeta).toBeUndefined();
  expect(warnings).toEqual([{ path: 'tools._meta', message: expect.stringContaining('left out of the list') }]);
});

describe.each(['modern', 'legacy'] as const)('a %s server', (eras) => {
  it('is listed with all pages, prompts and resources', async () => {
    const server = await listenTo({ tools, pageSize: 2, prompts, resources, eras, ttlMs: 90_000, instructions: 'Be kind.' });
    const found = await createMcpUpstream().discover(accessTo(server.url), contextWith());
    expect(found).toMatchObject({
      tools,
      connection: {
        era: eras,
        protocolVersion: eras === 'modern' ? '2026-07-28' : '2025-11-25',
        server: { name: 'fake', version: '1.0.0' },
        capabilities: { tools: { listChanged: true } },
        instructions: 'Be kind.',
      },
      offers: { prompts, resources, resourceTemplates: [] },
      operations: null,
      ttlMs: 90_000,
    });
    expect(found.warnings).toBeUndefined();
    expect(server.heard.filter(({ method }) => method === 'tools/list')).toHaveLength(3);
    expect(JSON.stringify(server.heard)).toContain(JSON.stringify({ name: 'moniker', version }));
  });

  it('receives no request for undeclared capabilities, and no session is left open', async () => {
    const server = await listenTo({ tools, eras });
    await createMcpUpstream().discover(accessTo(server.url), contextWith());
    expect(server.heard.some(({ method }) => /^(prompts|resources)/.test(method))).toBe(false);
    expect(server.heard.some(({ httpMethod }) => httpMethod === 'GET')).toBe(false);
    expect(server.heard.filter(({ httpMethod }) => httpMethod === 'DELETE')).toHaveLength(eras === 'legacy' ? 1 : 0);
  });

  it('returns prompts, resources and completions unchanged', async () => {
    const server = await listenTo({ prompts, resources, eras });
    const upstream = createMcpUpstream();
    const access = accessTo(server.url);
    const ask = (method: 'resources/read' | 'prompts/get' | 'completion/complete', params: Record<string, unknown>) =>
      upstream.request(access, { method, params }, {}, contextWith());
    expect(await ask('resources/read', { uri: 'test://one' })).toMatchObject({
      kind: 'result',
      result: { contents: [{ uri: 'test://one', text: 'text of test://one' }] },
    });
    expect(await ask('prompts/get', { name: 'greet', arguments: { who: 'Ada' } })).toEqual({
      kind: 'result',
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'greet {"who":"Ada"}' } }] },
    });
    const params = { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'who', value: 'Ad' } };
    expect(await ask('completion/complete', params)).toEqual({ kind: 'result', result: { completion: { values: ['Ad1'] } } });
  });

  it('reports list changes until the listener stops', async () => {
    const server = await listenTo({ tools, eras });
    const stop = new AbortController();
    const changed = Promise.withResolvers<string>();
    const listening = createMcpUpstream().listen(
      accessTo(server.url),
      [],
      { onListChanged: changed.resolve },
      contextWith({ signal: stop.signal }),
    );
    const sign = eras === 'modern' ? 'subscriptions/listen' : 'GET';
    await expect.poll(() => server.heard.some(({ httpMethod, method }) => method === sign || httpMethod === sign)).toBe(true);
    // Changes reported before the stream is open are lost, as everywhere.
    const telling = setInterval(() => void server.tellChanged(), 20);
    expect(await changed.promise).toBe('tools');
    clearInterval(telling);
    stop.abort(new Error('enough'));
    await expect(listening).resolves.toBeUndefined();
  });
});

describe('a server', () => {
  it('whose prompts cannot be read still has its tools listed, with a warning', async () => {
    const scripted = scriptMcp(({ message }) => {
      if (message?.method === 'initialize') {
        const capabilities = { tools: {}, prompts: {}, resources: {} };
        return result(message, { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'x', version: '1' } });
      }
      if (message?.method === 'prompts/list') return failure(message, -32603, 'out of order');
      if (message?.method === 'resources/list')
        return result(message, { resources: [{ uri: 'test://a', name: 'a' }, { name: 'no address' }] });
      return undefined;
    });
    const context = contextWith({ fetch: (request) => scripted.handle(request) });
    const found = await createMcpUpstream().discover(accessTo('https://mcp.example.com/'), context);
    expect(found).toMatchObject({
      tools: [{ name: 'echo' }],
      offers: { prompts: [], resources: [{ uri: 'test://a' }], resourceTemplates: [] },
      warnings: [
        { path: 'prompts', message: expect.stringContaining('"out of order"') },
        { path: 'resources', message: expect.stringContaining('1 of 2 are skipped') },
      ],
    });
  });

  it('whose framework responds 500 to unknown methods is treated as one of 2025', async () => {
    const scripted = scriptMcp(({ message }) =>
      message?.method === 'server/discover' ? new Response('oops', { status: 500 }) : undefined,
    );
    const context = contextWith({ fetch: (request) => scripted.handle(request) });
    const found = await createMcpUpstream().discover(accessTo('https://mcp.example.com/'), context);
    expect(found).toMatchObject({ tools: [{ name: 'echo' }], connection: { era: 'legacy' } });
  });

  it('that does not name revision 2026-07-28 in its response to `server/discover` is not treated as modern', async () => {
    const discovered = {
      resultType: 'complete',
      supportedVersions: ['2025-11-25'],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: 'private',
    };
    const scripted = scriptMcp(({ message }) => (message?.method === 'server/discover' ? result(message, discovered) : undefined));
    const context = contextWith({ fetch: (request) => scripted.handle(request) });
    const found = await createMcpUpstream().discover(accessTo('https://mcp.example.com/'), context);
    expect(found.connection?.era).toBe('legacy');
  });
});
