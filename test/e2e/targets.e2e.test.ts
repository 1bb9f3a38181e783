/** Entries with several targets and stored results over the running service: direct calls, a session, MCP and the audit. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listenToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'servers:127.0.0.1:*' });
let main: ToolServer;
let backup: ToolServer;
let isDown = false;

const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] };
const tools = [
  { name: 'search', description: 'Searches.', annotations: { readOnlyHint: true }, inputSchema },
  { name: 'post', description: 'Posts.', annotations: { readOnlyHint: false, destructiveHint: false }, inputSchema },
];
const toolset = (entry: object) => service.call('PUT', '/v1/toolsets/targets', { tools: [{ name: 'find', aliases: [], ...entry }] });
const call = async (q: string, more: object = {}) =>
  (await service.call('POST', '/v1/toolsets/targets/calls', { name: 'find', arguments: { q }, ...more })).json;

beforeAll(async () => {
  const answers = (name: string) => () =>
    isDown && name === 'main' ? new Response('down', { status: 503 }) : { content: [{ type: 'text', text: name }] };
  main = await listenToolServer(answers('main'));
  backup = await listenToolServer(answers('backup'));
  for (const [name, { url }] of Object.entries({ main, backup }))
    expect((await service.call('PUT', `/v1/servers/${name}`, { kind: 'static', url, trusted: true, tools })).status).toBe(201);
});
afterAll(() => {
  main.close();
  backup.close();
});

describe('an entry with two targets', () => {
  it('refuses what it cannot have, with its place', async () => {
    const issuesOf = async (entry: object) => (await toolset(entry)).json.issues.map(({ path }: { path: string }) => path);
    expect(await issuesOf({ tool: [] })).toEqual(['tools[0].tool']);
    expect(await issuesOf({ tool: ['main.search', 'backup.nosuch'] })).toEqual(['tools[0].tool[1]']);
    expect(await issuesOf({ tool: ['main.post', 'backup.post'], cache: { ttl: 60 } })).toEqual(['tools[0].cache', 'tools[0].cache']);
  });

  it('answers from the second server while the first one fails, and the audit names what ran', async () => {
    expect((await toolset({ tool: ['main.search', 'backup.search'] })).status).toBe(201);
    expect(await call('a')).toMatchObject({ canonical: 'main.search', served: { tool: 'main.search' }, content: [{ text: 'main' }] });
    isDown = true;
    const served = { tool: 'backup.search', tried: [{ tool: 'main.search', code: 'tool_error' }] };
    expect(await call('a')).toMatchObject({ isError: false, served, content: [{ text: 'backup' }] });
    const { items } = (await service.call('GET', '/v1/audit?kind=call&tool=backup.search')).json;
    expect(items[0]).toMatchObject({ requested: 'find', canonical: 'backup.search', verdict: 'ran', served });
  });

  it('never sends a call with an effect to the second server after the first one got it', async () => {
    expect((await toolset({ tool: ['main.post', 'backup.post'] })).status).toBe(200);
    const before = [main.calls.length, backup.calls.length];
    expect(await call('a')).toMatchObject({ isError: true, served: { tool: 'main.post' } });
    expect([main.calls.length, backup.calls.length]).toEqual([(before[0] ?? 0) + 1, before[1]]);
    isDown = false;
  });

  it('shows a change of targets in the impact and in the diff', async () => {
    const draft = {
      tools: [{ tool: ['main.post', 'backup.post'], choose: { weights: { 'main.post': 1, 'backup.post': 1 } }, name: 'find', aliases: [] }],
    };
    const expected = {
      requested: 'find',
      change: 'targets',
      targets: { was: { choose: 'in-order' }, now: { choose: draft.tools[0]?.choose } },
    };
    // The calls are counted a while after they ran.
    await expect
      .poll(async () => (await service.call('POST', '/v1/toolsets/targets/impact', draft)).json.changed)
      .toMatchObject([expected]);
    expect((await service.call('PUT', '/v1/toolsets/targets', draft)).status).toBe(200);
    const { changes } = (await service.call('GET', '/v1/toolsets/targets/diff?from=2&to=3')).json;
    expect(JSON.stringify(changes)).toContain('/targets/choose');
  });
});

describe('a stored result', () => {
  it('answers the next equal call without a request, also in a session, but not that of another key', async () => {
    expect((await toolset({ tool: 'main.search', cache: { ttl: 60 } })).status).toBe(200);
    const before = main.calls.length;
    const first = await call('cached');
    const again = await call('cached');
    expect([first.served, again.served]).toEqual([undefined, { tool: 'main.search', cachedSeconds: expect.any(Number) }]);
    const session = (await service.call('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'targets' })).json.id;
    expect((await call('cached', { session })).served).toMatchObject({ tool: 'main.search' });
    expect(main.calls.length).toBe(before + 1);
    const { key } = (await service.call('POST', '/v1/keys', { name: 'other', scopes: ['tools'] })).json;
    const headers = { authorization: `Bearer ${key}` };
    const other = await service.call('POST', '/v1/toolsets/targets/calls', { name: 'find', arguments: { q: 'cached' } }, headers);
    expect([other.json.isError, other.json.served, main.calls.length]).toEqual([false, undefined, before + 2]);
  });
});
