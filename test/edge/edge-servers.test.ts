/** Servers of an edge handler that list their tools themselves: read when they are first needed, and pinned while the handler runs. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEdgeHandler } from '../../src/edge.ts';
import { type FakeMcpServer, listenMcpServer } from '../fakes/mcp-server.ts';
import { takeErrors } from '../service-errors.ts';

const rootKey = 'root-key-of-at-least-thirty-two-characters';
const search = { name: 'search', description: 'Searches.', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } };
const read = { ...search, name: 'read', description: 'Reads.' };

let server: FakeMcpServer;
let isDown = false;

beforeEach(async () => {
  isDown = false;
  server = await listenMcpServer({ tools: [search, read], gate: () => (isDown ? new Response('down', { status: 503 }) : null) });
});
afterEach(() => server.close());

async function edge(more: object = {}) {
  const handler = await createEdgeHandler({
    env: { MONIKER_ROOT_KEY: rootKey, MONIKER_LOG: 'error', MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' },
    project: {
      servers: { docs: { kind: 'mcp', url: server.url, trusted: true, ...more } },
      tools: {
        'made.twice': { description: 'Searches twice.', uses: ['docs.search'], implementation: 'return await tools.search({});' },
      },
      toolsets: {
        wide: { tools: [{ tool: 'docs.*' }] },
        mixed: { tools: [{ tool: 'docs.search', aliases: ['find'] }, { tool: 'local.calculate' }] },
        made: { tools: [{ tool: 'made.twice' }] },
      },
    },
  });
  return async (method: string, path: string, body?: unknown) => {
    const response = await handler(
      new Request(`https://edge.example${path}`, {
        method,
        headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
    // Tests read answers of many shapes.
    return {
      status: response.status,
      json: (await response.json()) as { code?: string; detail?: string; tools: { state: string; canonical: string }[] },
    };
  };
}

const call = (name: string) => ({ name, arguments: {} });
const lists = () => server.heard.filter(({ method }) => method === 'tools/list').length;

describe('a server that lists its tools', () => {
  it('is not contacted before it is needed, and is read once for requests that come together', async () => {
    const send = await edge();
    expect(server.heard).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 5 }, () => send('POST', '/v1/toolsets/wide/calls', call('search'))));
    expect(answers.map(({ status, json }) => [status, json])).toEqual(
      answers.map(() => [200, expect.objectContaining({ canonical: 'docs.search', isError: false })]),
    );
    expect(lists()).toBe(1);
    expect((await send('POST', '/v1/toolsets/mixed/calls', call('find'))).json).toMatchObject({ canonical: 'docs.search', isError: false });
    expect((await send('POST', '/v1/toolsets/made/calls', call('twice'))).json).toMatchObject({ canonical: 'made.twice', isError: false });
  });

  it('that is down leaves other tools usable, and its toolsets appear when it can be read', async () => {
    isDown = true;
    const send = await edge();
    const { status, json } = await send('GET', '/v1/toolsets/wide/tools');
    expect([status, json.code, json.detail]).toEqual([503, 'unavailable', expect.stringContaining('"docs"')]);
    expect(takeErrors()).toMatchObject([{ message: 'request failed', path: '/v1/toolsets/wide/tools', code: 'unavailable' }]);
    const mixed = await send('GET', '/v1/toolsets/mixed/tools');
    expect(mixed.json.tools.map(({ canonical, state }) => [canonical, state])).toEqual([
      ['local.calculate', 'ready'],
      ['docs.search', 'missing'],
    ]);
    isDown = false;
    expect((await send('POST', '/v1/servers/docs/refresh')).status).toBe(200);
    expect((await send('GET', '/v1/toolsets/wide/tools')).json.tools).toHaveLength(2);
    expect((await send('POST', '/v1/toolsets/mixed/calls', call('find'))).json).toMatchObject({ isError: false });
  });

  it('whose definition changes has it held, and a new tool is in no toolset', async () => {
    const send = await edge({ updates: 'review' });
    await send('GET', '/v1/toolsets/wide/tools');
    server.setTools([{ ...search, description: 'Searches, and sends what it finds elsewhere.' }, read, { ...read, name: 'extra' }]);
    await send('POST', '/v1/servers/docs/refresh');
    const { json } = await send('GET', '/v1/toolsets/wide/tools');
    expect(json.tools.map(({ canonical, state }) => [canonical, state])).toEqual([
      ['docs.read', 'ready'],
      ['docs.search', 'held'],
    ]);
    expect((await send('POST', '/v1/toolsets/wide/calls', call('search'))).json).toMatchObject({ isError: true, code: 'tool_held' });
    expect((await send('POST', '/v1/servers/docs/tools/search/accept', {})).status).toBe(503);
  });

  it('that is trusted has compatible changes in force, as in the Worker', async () => {
    const send = await edge();
    await send('GET', '/v1/toolsets/wide/tools');
    server.setTools([
      { ...search, description: 'Searches all pages.' },
      { ...read, annotations: { destructiveHint: true } },
    ]);
    expect((await send('POST', '/v1/servers/docs/refresh')).json).toMatchObject({ updated: ['search'], held: ['read'] });
    const { json } = await send('GET', '/v1/toolsets/wide/tools');
    expect(json.tools.map(({ canonical, state }) => [canonical, state])).toEqual([
      ['docs.search', 'ready'],
      ['docs.read', 'held'],
    ]);
    expect(JSON.stringify(json.tools)).toContain('Searches all pages.');
  });
});
