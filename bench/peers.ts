/**
 * `npm run bench:peers [-- --quick]`: other gateways and libraries do the same work as Moniker, in the same run, next to the floor; writes
 * the tables to docs/benchmarks.md and bench/results/. Installs them from npm at the versions of `peers/package.json` when they are missing. They run with their
 * defaults, one provider and no authentication; Moniker checks its key and keeps its usage records.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SSEClientTransport, StreamableHTTPClientTransport, type Client, type Transport } from '@modelcontextprotocol/client';
import { number } from './goals.ts';
import { median, prepare, type Prepared } from './load.ts';
import { openMcp } from './mcp-client.ts';
import { compare, type Contestant } from './measure-pair.ts';
import { installPeers, peersFolder, versionOf } from './peer-packages.ts';
import { measure } from './process-usage.ts';
import { Report } from './report.ts';
import { startServers, type Server, type Servers } from './servers.ts';
import { createApi, setUp } from './setup.ts';
import { sampleTools } from './scenarios.ts';

const quick = process.argv.includes('--quick');
const effort = quick ? { rounds: 2, ms: 500 } : { rounds: 3, ms: 1_000 };
const folder = peersFolder;
const loopback = ['--import', join(folder, 'loopback.mjs')];

type Peer = { name: string; request(body: object): Prepared; server: Server };
type Work = { name: string; connections: number; model: string; body: object; sse: boolean; events?: number };

const messages = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'Hello, what is the weather in Paris today?' },
];
const works: readonly Work[] = [
  ...[1, 10].map((connections) => ({ name: 'chat', connections, model: 'mock-c20', body: { stream: false }, sse: false })),
  { name: 'chat, 30 tools', connections: 10, model: 'mock-c20', body: { stream: false, tools: sampleTools(30) }, sse: false },
  ...[1, 10].map((connections) => ({
    name: 'stream of 200 events',
    connections,
    model: 'mock-c200-py',
    body: { stream: true },
    sse: true,
    events: 200,
  })),
];

installPeers();
const report = new Report();
const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
try {
  await setUp(servers);
  if (!process.argv.includes('--mcp')) await measureChat(servers);
  await measureMcp(servers);
} finally {
  await servers.stop();
}
if (!process.argv.includes('--mcp')) {
  report.section(
    'Assembling tool calls',
    'A streamed reply becomes tool calls: Moniker, the floor (decodes, splits lines, parses each event, joins the text) and libraries, fed with the same bytes by a `fetch` in memory. Deltas of eight characters, one event per network read. A fresh process for each measurement, best of up to three passes; every call is compared byte for byte. A "-" was not run because half the size took more than 4 s.',
  );
  await report.script('assemble.ts', ['--peers', '--rounds', quick ? '1' : '2', '--cases', 'par8,one,anth8']);
}
if (!quick) report.write('bench:peers', ([, connections]) => connections === '10');

async function measureChat(running: Servers): Promise<void> {
  const { upstream, floor, ours, key } = running;
  const portkey = await running.startPeer(
    [...loopback, join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'), '--port={port}', '--headless'],
    '/',
  );
  const llms = await running.startPeer([...loopback, join(folder, 'llms.mjs'), '{port}', upstream.url], '/');
  const path = '/v1/chat/completions';
  const portkeyHeaders = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream.url}/v1`, authorization: 'Bearer k' };
  const peersOf = ({ model, body }: Work): Peer[] => {
    const request = (server: Server, prefix = '', headers = {}) =>
      prepare(server.url + path, { headers, body: { model: prefix + model, messages, ...body } });
    return [
      { name: 'bare Worker', server: floor, request: () => request(floor) },
      { name: 'Moniker', server: ours, request: () => request(ours, 'mock/', { authorization: `Bearer ${key}` }) },
      { name: `${versionOf('@portkey-ai/gateway')}, Node`, server: portkey, request: () => request(portkey, '', portkeyHeaders) },
      { name: `${versionOf('@musistudio/llms')}, Node`, server: llms, request: () => request(llms, 'up,') },
    ];
  };
  report.section(
    'Chat',
    `An OpenAI request to an OpenAI-compatible provider. Medians of ${effort.rounds} rounds of ${effort.ms} ms, each server in turn; "x" is over the bare Worker in the same round. Of CPU and time less is better, of requests and events more.`,
  );
  report.table([
    'work',
    'connections',
    'server',
    'CPU µs',
    'CPU x',
    'requests/s x',
    'events/s x',
    'p50 ms added',
    'p99 x',
    'first event, ms added',
  ]);
  for (const work of works) {
    const peers = peersOf(work);
    const contestants: Contestant[] = peers.map(({ server, request }) => ({ server, requests: [request(work)] }));
    const results = await compare(work, contestants, effort);
    const ours = results[1]?.ratio.cpu ?? Number.NaN;
    for (const [index, { side, ratio, added }] of results.entries())
      report.row([
        work.name,
        work.connections,
        `${peers[index]?.name ?? ''}${index > 1 && ratio.cpu < ours ? ' (less CPU than Moniker)' : ''}`,
        side.cpuUs.toFixed(0),
        number(ratio.cpu),
        number(ratio.requestsPerSecond),
        work.sse ? number(ratio.eventsPerSecond) : '-',
        number(added.p50),
        number(ratio.p99),
        work.sse ? number(added.first50) : '-',
      ]);
  }
}

/** The same tool call: directly, through Moniker under an alias, through a proxy, and through a hub, which speaks the transport of 2024-11 to clients. */
async function measureMcp(running: Servers): Promise<void> {
  const upstream = await running.startMcpUpstream();
  const url = `${upstream.url}/mcp`;
  const api = createApi(running);
  await api.send('PUT', '/v1/servers/up', { kind: 'mcp', url, era: 'legacy', trusted: true });
  await api.send('PUT', '/v1/toolsets/up', { tools: [{ tool: 'up.tool_7', aliases: ['seven'] }] });
  const home = mkdtempSync(join(tmpdir(), 'moniker-bench-hub-'));
  const config = join(home, 'servers.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { up: { url } } }));
  try {
    const hub = await running.startPeer(
      [...loopback, join(folder, 'node_modules/mcp-hub/dist/cli.js'), '--port', '{port}', '--config', config],
      '/api/health',
    );
    const proxy = await running.startPeer([...loopback, join(folder, 'mcp-proxy.mjs'), '{port}', url], '/ping');
    const authorization = `Bearer ${running.key}`;
    const ways: { name: string; tool: string; pid: number; open: () => Transport }[] = [
      { name: 'direct', tool: 'tool_7', pid: upstream.pid, open: () => new StreamableHTTPClientTransport(new URL(url)) },
      {
        name: 'Moniker',
        tool: 'seven',
        pid: running.ours.pid,
        open: () =>
          new StreamableHTTPClientTransport(new URL(`${running.ours.url}/mcp/up`), { requestInit: { headers: { authorization } } }),
      },
      {
        name: `${versionOf('mcp-proxy')}, Node`,
        tool: 'tool_7',
        pid: proxy.pid,
        open: () => new StreamableHTTPClientTransport(new URL(`${proxy.url}/mcp`)),
      },
      {
        name: `${versionOf('mcp-hub')}, Node`,
        tool: 'up__tool_7',
        pid: hub.pid,
        open: () => new SSEClientTransport(new URL(`${hub.url}/mcp`)),
      },
    ];
    report.section(
      'MCP calls',
      `One client of the official SDK calls one tool, 2025-11-25 sessions. Medians of ${effort.rounds} rounds of ${effort.ms} ms. Moniker records each call in its audit before it responds.`,
    );
    report.table(['way', 'p50 ms', 'p50 ms added', 'calls/s x', 'CPU µs of the gateway']);
    const clients = await Promise.all(
      ways.map(async ({ open, tool }) => {
        const client = await openMcp('legacy', open());
        await untilListed(client, tool);
        return client;
      }),
    );
    const rounds: CallTimes[][] = ways.map(() => []);
    for (let round = 0; round <= effort.rounds; round++)
      for (const [index, client] of clients.entries()) {
        const way = ways[index]!;
        const side = await callRepeatedly(client, way.tool, way.pid);
        // The first round warms up.
        if (round > 0) rounds[index]?.push(side);
      }
    const middle = (index: number, pick: (side: CallTimes, base: CallTimes) => number): number =>
      median((rounds[index] ?? []).map((side, round) => pick(side, rounds[0]![round]!)));
    const ours = middle(
      ways.findIndex(({ name }) => name === 'Moniker'),
      ({ p50 }) => p50,
    );
    for (const [index, { name }] of ways.entries()) {
      const p50 = middle(index, (side) => side.p50);
      report.row([
        index > 0 && p50 < ours ? `${name} (faster than Moniker)` : name,
        number(p50),
        number(middle(index, (side, base) => side.p50 - base.p50)),
        number(middle(index, (side, base) => side.perSecond / base.perSecond)),
        index === 0 ? '-' : middle(index, ({ cpuUs }) => cpuUs).toFixed(0),
      ]);
    }
    for (const client of clients) await client.close();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

type CallTimes = { p50: number; perSecond: number; cpuUs: number };

/** `pid`: the gateway, or the server itself if there is none. */
async function callRepeatedly(client: Client, name: string, pid: number): Promise<CallTimes> {
  const times: number[] = [];
  const before = measure(pid).cpuMs;
  const started = performance.now();
  while (performance.now() - started < effort.ms) {
    const sent = performance.now();
    const { isError } = await client.callTool({ name, arguments: { query: 'whales', limit: 3 } });
    if (isError === true) throw new Error(`${name} was refused`);
    times.push(performance.now() - sent);
  }
  const seconds = (performance.now() - started) / 1_000;
  return { p50: median(times), perSecond: times.length / seconds, cpuUs: ((measure(pid).cpuMs - before) * 1_000) / times.length };
}

/** A hub is ready before the servers behind it are connected. */
async function untilListed(client: Client, tool: string): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const { tools } = await client.listTools(undefined, { cacheMode: 'refresh' });
    if (tools.some(({ name }) => name === tool)) return;
    await sleep(200);
  }
  throw new Error(`${tool} is not listed`);
}
