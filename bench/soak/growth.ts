/** How costs grow with what is stored: tools of a workspace, tools of a toolset, messages of a session, keys. A cell is the median of sequential requests in ms. */
import { connectMcp } from '../mcp-client.ts';
import { load, median, prepare, type Prepared } from '../load.ts';
import type { Report } from '../report.ts';
import type { Server, Servers } from '../servers.ts';
import { createApi, setUp } from '../setup.ts';

/** Of the upstream MCP server (`mcp-upstream.ts`). */
const toolsOfServer = 1_000;
const serverCounts = [0, 1, 10];
const toolsetSizes = [10, 100, 1_000];
const warmUps = 10;
const keyCounts = [1, 10, 100, 1_000];
const samples = 60;
const measureMs = 600;

export async function measureGrowth(servers: Servers, report: Report, messages: number): Promise<void> {
  await setUp(servers);
  const upstream = await servers.startMcpUpstream();
  await growTools(servers, upstream, report);
  await growToolset(servers, report);
  await growKeys(servers, report);
  await growSession(servers, report, messages);
}

const figure = (ms: number): string => ms.toFixed(2);

/** Median latency of the requests, sent in turn one after the other. */
async function timeOf(requests: readonly Prepared[]): Promise<string> {
  await load(requests, { connections: 1, ms: measureMs / 2, sse: false });
  const { p50, bad, errors } = await load(requests, { connections: 1, ms: measureMs, sse: false });
  if (bad + errors > 0) throw new Error(`${bad + errors} requests were refused: ${requests[0]?.bytes.toString('latin1').slice(0, 80)}`);
  return figure(p50);
}

async function timeEach(work: (index: number) => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let index = -warmUps; index < samples; index++) {
    const started = performance.now();
    await work(index);
    if (index >= 0) times.push(performance.now() - started);
  }
  return figure(median(times));
}

function requestsOf({ ours, key }: Servers) {
  const headers = { authorization: `Bearer ${key}` };
  return {
    get: (path: string) => prepare(ours.url + path, { method: 'GET', headers }),
    post: (path: string, body: unknown) => prepare(ours.url + path, { headers, body }),
  };
}

const chatBody = { model: 'mock/mock-c20', messages: [{ role: 'user', content: 'Hello' }] };
const rehearsal = { model: 'rehearsal/default' };

/** A toolset of four tools, whose costs should not depend on other tools of the workspace. */
async function growTools(servers: Servers, upstream: Server, report: Report): Promise<void> {
  const api = createApi(servers);
  const { get, post } = requestsOf(servers);
  report.section(
    'Growth: tools of a workspace',
    'Requests that concern a toolset of four tools, while the workspace has more and more tools of MCP servers; and requests over all tools.',
  );
  report.table(['tools', 'chat', 'resolve', 'call', 'turn', 'PUT toolset', 'list 50 of all tools', 'search all tools']);
  let servered = 0;
  for (const count of serverCounts) {
    for (; servered < count; servered++)
      await api.send('PUT', `/v1/servers/grow-${servered}`, { kind: 'mcp', url: `${upstream.url}/mcp`, era: 'modern', trusted: true });
    const { id } = await api.send<{ id: string }>('POST', '/v1/sessions', { ...rehearsal, toolset: 'bench' });
    report.row([
      count * toolsOfServer || 'built-in only',
      await timeOf([post('/v1/chat/completions', chatBody)]),
      await timeOf([get('/v1/toolsets/bench/resolve?name=b3-one')]),
      await timeOf([post('/v1/toolsets/bench/calls', { name: 'b3-one', arguments: {} })]),
      await timeEach(() => api.send('POST', `/v1/sessions/${id}/turns`, { input: 'Hello' })),
      await timeEach((index) =>
        api.send('PUT', '/v1/toolsets/changing', { tools: [{ tool: 'builtin.bash', aliases: [`shell${index}`] }] }),
      ),
      await timeOf([get('/v1/tools?limit=50')]),
      await timeOf([get('/v1/tools?q=whales&limit=50')]),
    ]);
  }
}

async function growToolset(servers: Servers, report: Report): Promise<void> {
  const api = createApi(servers);
  const { get } = requestsOf(servers);
  report.section(
    'Growth: tools of a toolset',
    'At most 1,000 entries. The call and the list are of the MCP revision 2026-07-28, through the client of the official SDK.',
  );
  report.table(['tools', 'resolve', 'MCP call', 'MCP list', 'turn', 'PUT toolset']);
  for (const size of toolsetSizes) {
    const name = `size-${size}`;
    const tools = (changed: string) =>
      Array.from({ length: size }, (_, index) => ({
        tool: `grow-0.tool_${index}`,
        aliases: [`alias-${index}${index === 0 ? changed : ''}`],
      }));
    const put = (index: number) => api.send('PUT', `/v1/toolsets/${name}`, { tools: tools(String(index)) });
    const changing = await timeEach(put);
    const { id } = await api.send<{ id: string }>('POST', '/v1/sessions', { ...rehearsal, toolset: name });
    const client = await connectMcp('modern', `${servers.ours.url}/mcp/${name}`, servers.key);
    await client.listTools(undefined, { cacheMode: 'refresh' });
    report.row([
      size,
      await timeOf([get(`/v1/toolsets/${name}/resolve?name=alias-5`)]),
      await timeEach(() => client.callTool({ name: 'alias-5', arguments: { query: 'whales' } })),
      await timeEach(() => client.listTools(undefined, { cacheMode: 'refresh' })),
      await timeEach(() => api.send('POST', `/v1/sessions/${id}/turns`, { input: 'Hello' })),
      changing,
    ]);
    await client.close();
  }
}

async function growKeys(servers: Servers, report: Report): Promise<void> {
  const api = createApi(servers);
  report.section(
    'Growth: keys',
    'Chat requests with all keys in turn. "First": the first request of each new key, which the isolate has not seen.',
  );
  report.table(['keys', 'chat', 'chat, first', 'POST key', 'list 50 keys']);
  const keys: string[] = [];
  for (const count of keyCounts) {
    const created: number[] = [];
    const fresh: Prepared[] = [];
    while (keys.length < count) {
      const started = performance.now();
      const { key } = await api.send<{ key: string }>('POST', '/v1/keys', { name: `key ${keys.length}`, scopes: ['chat'] });
      created.push(performance.now() - started);
      keys.push(key);
      fresh.push(chatWith(servers, key));
    }
    const { p50 } = await load(fresh, { connections: 1, ms: 60_000, sse: false, once: true });
    const { get } = requestsOf(servers);
    report.row([
      count,
      await timeOf(keys.map((key) => chatWith(servers, key))),
      figure(p50),
      figure(median(created)),
      await timeOf([get('/v1/keys?limit=50')]),
    ]);
  }
}

function chatWith({ ours }: Servers, key: string): Prepared {
  return prepare(`${ours.url}/v1/chat/completions`, { headers: { authorization: `Bearer ${key}` }, body: chatBody });
}

async function growSession(servers: Servers, report: Report, most: number): Promise<void> {
  const api = createApi(servers);
  const { get, post } = requestsOf(servers);
  const { id } = await api.send<{ id: string }>('POST', '/v1/sessions', { model: 'mock/mock-c1' });
  const path = `/v1/sessions/${id}`;
  const turn = post(`${path}/turns`, { input: 'Hello' });
  report.section(
    'Growth: messages of a session',
    'The model is sent the conversation with each turn, until it is summarized (`maxContextTokens`, 120,000 estimated tokens): a turn grows with what is sent. The other requests read the newest part.',
  );
  report.table(['messages', 'turn', 'GET session', 'newest 50 messages', 'newest 100 events']);
  let messages = 0;
  for (let size = 10; size <= most; size *= 10) {
    while (messages < size - samples) {
      const more = Array.from({ length: Math.min(500, Math.max(1, Math.floor((size - samples - messages) / 2))) }, () => turn);
      const { answers } = await load(more, { connections: 1, ms: 600_000, sse: false, once: true });
      if (answers !== more.length) throw new Error(`${more.length - answers} turns were refused`);
      messages += 2 * answers;
    }
    const [view, newest, events] = [get(path), get(`${path}/messages?order=desc&limit=50`), get(`${path}/events?follow=false&limit=100`)];
    const turns = await timeEach(() => api.send('POST', `${path}/turns`, { input: 'Hello' }));
    messages += 2 * (samples + warmUps);
    report.row([messages, turns, await timeOf([view]), await timeOf([newest]), await timeOf([events])]);
  }
}
