/**
 * Every script of `fixtures/security/mcp-hostile-servers.json` against the running service over real HTTP: the row's server is stored,
 * listed and called, and the result is checked (`hostile-rows.ts`). During and after it, the tools of another server work, a turn
 * completes, and no internal address is reached.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { scriptMcp, type Scripted } from '../fakes/mcp-script.ts';
import { listenMcpServer } from '../fakes/mcp-server.ts';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { describeCorpus, readJson } from '../fixtures.ts';
import { connectClient } from './mcp-clients.ts';
import { hostileRows, type Called, type HostileRow, type HostileRun } from './hostile-rows.ts';
import { shareService } from './shared-service.ts';
import { printStatistics } from '../statistics.ts';

/** By the row's id, which is the path of its server. */
const scripts = new Map<string, Scripted>();
const pages = new Map<string, (request: Request) => Response>();
/** Requests to the internal server; must stay empty. */
const reached: string[] = [];

// Started before the service, whose settings list the loopback ports that it may reach.
const hostile = await listenUpstream({
  handle: async (request) => {
    const { pathname } = new URL(request.url);
    return (
      pages.get(pathname)?.(request) ??
      (await scripts.get(pathname.slice(1))?.handle(request)) ??
      new Response('no such page', { status: 404 })
    );
  },
});
const inside = await listenUpstream({
  handle: async (request) => {
    reached.push(request.url);
    return Response.json({ token: 'of the inside' });
  },
});
const good = await listenMcpServer({
  tools: [{ name: 'work', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true }, answer: () => said('good work') }],
});
const said = (text: string) => ({ content: [{ type: 'text', text }] });

describeCorpus('security/mcp-hostile-servers.json', (path) => {
  const ids = readJson<{ cases: { id: string }[] }>(path).cases.map(({ id }) => id);
  const rows = hostileRows({ own: hostile.url, inside: inside.url });
  const allowed = [hostile.url, good.url].map((url) => `servers:${new URL(url).host}`);
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: allowed.join(',') });
  const api: HostileRun['api'] = (method, where, body) => service.call(method, where, body);
  const outcomes = new Map<string, string>();

  beforeAll(async () => {
    await api('PUT', '/v1/servers/good', { kind: 'mcp', url: good.url, trusted: true });
    await api('PUT', '/v1/secrets/HOSTILE', { value: 'value of the secret', hosts: [new URL(hostile.url).host] });
    await api('PUT', '/v1/toolsets/good', { tools: [{ tool: 'good.work' }] });
  });
  afterAll(async () => {
    const exceptions = [...outcomes].filter(([, outcome]) => outcome !== '').map(([id, outcome]) => `${id} (${outcome})`);
    printStatistics(`${ids.length} rows, ${outcomes.size - exceptions.length} as expected, exceptions: ${exceptions.join('; ') || 'none'}`);
    hostile.close();
    inside.close();
    await good.close();
  });

  /** Calls the tool of another server, over REST and in a turn. */
  const othersWork = async (): Promise<void> => {
    const called = await api('POST', '/v1/toolsets/good/calls', { name: 'work', arguments: {} });
    expect(called.json).toMatchObject({ isError: false, content: [{ text: 'good work' }] });
    const body = { model: 'rehearsal/default', messages: [{ role: 'user', content: '/work {}' }] };
    const { json } = await service.call('POST', '/v1/chat/completions', body, { 'x-moniker-toolset': 'good' });
    expect(json.choices[0].message.content).toContain('good work');
  };

  it('has a row for each script', () => expect(Object.keys(rows).sort()).toEqual([...ids].sort()));

  it.each(ids)('harms no other server and no caller: %s', async (id) => {
    outcomes.set(id, 'failed');
    const row = rows[id] as HostileRow;
    const run = await begin(id, row);
    await Promise.all([row.check(run), othersWork()]);
    await othersWork();
    expect((await api('GET', '/v1/servers/good')).json).toMatchObject({ tools: [{ state: 'ready' }], health: { status: 'ok' } });
    expect(reached).toEqual([]);
    outcomes.set(id, row.exception ?? '');
  });

  async function begin(id: string, row: HostileRow): Promise<HostileRun> {
    const { script, sessionId, version, document = {}, isUnlisted = false } = row;
    const scripted = scriptMcp(script, { ...(sessionId !== undefined && { sessionId }), ...(version !== undefined && { version }) });
    scripts.set(id, scripted);
    for (const [where, answer] of Object.entries(row.pages ?? {})) pages.set(where, answer);
    // A name of at most 32 characters that occurs in no script.
    const name = `s${ids.indexOf(id)}`;
    const server = { kind: 'mcp', url: `${hostile.url}/${id}`, trusted: true, era: 'legacy', ...document };
    const written = await api('PUT', `/v1/servers/${name}`, server);
    expect(written.status).toBe(201);
    if (!isUnlisted) {
      const listed = (await api('GET', `/v1/servers/${name}`)).json.tools.map((tool: { name: string }) => `${name}.${tool.name}`);
      const own = listed.slice(0, 900).map((tool: string) => ({ tool }));
      const entries = own.map((entry: { tool: string }) => (entry.tool.endsWith('.work') ? { ...entry, name: 'their_work' } : entry));
      expect((await api('PUT', `/v1/toolsets/${name}`, { tools: [{ tool: 'good.work' }, ...entries] })).status).toBe(201);
    }
    return {
      written,
      name,
      heard: scripted.heard,
      api,
      call: async (tool = 'echo', args = {}) => (await api('POST', `/v1/toolsets/${name}/calls`, { name: tool, arguments: args })).json,
      ask: (tool = 'echo') => askOf(name, tool),
      turn: (options = {}) => turnOf(name, scripted, options),
      shown: async () => (await api('GET', `/v1/toolsets/${name}/tools?provider=openai`)).text,
    };
  }

  async function askOf(name: string, tool: string): ReturnType<HostileRun['ask']> {
    const asked: { method: string; params: Record<string, unknown> }[] = [];
    const client = await connectClient(
      `${service.url}/mcp/${name}`,
      service.key,
      'legacy',
      { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      (made) => {
        made.setRequestHandler('elicitation/create', ({ method, params }) => {
          asked.push({ method, params: { ...params } });
          return { action: 'accept' as const };
        });
        made.setRequestHandler('sampling/createMessage', ({ method, params }) => {
          asked.push({ method, params: { ...params } });
          return { role: 'assistant' as const, content: { type: 'text' as const, text: 'hi' }, model: 'm' };
        });
        made.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }));
      },
    );
    try {
      return { result: (await client.callTool({ name: tool, arguments: {} })) as Called, asked };
    } finally {
      await client.close();
    }
  }

  async function turnOf(
    name: string,
    { heard }: Scripted,
    { stop = false, waitMs = 0 }: { stop?: boolean; waitMs?: number },
  ): Promise<string> {
    const session = (await api('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: name })).json.id;
    const turns = `/v1/sessions/${session}`;
    const calls = (): number => heard.filter(({ message }) => message?.method === 'tools/call').length;
    const before = calls();
    const prefer: Record<string, string> = stop ? { prefer: 'respond-async' } : {};
    await service.call('POST', `${turns}/turns`, { input: '/echo {}' }, prefer);
    if (stop) {
      await expect.poll(calls).toBeGreaterThan(before);
      if (waitMs > 0) await pause(waitMs / 2);
      await api('POST', `${turns}/cancel`);
    }
    await pause(waitMs);
    return (await api('GET', `${turns}/messages`)).text;
  }
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
