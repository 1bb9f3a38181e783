/**
 * One MCP tool call through `/mcp/{toolset}` compared with the SDK's client calling the server itself, in one run: the added milliseconds
 * and the remaining throughput, in both revisions; and a warm list of a thousand tools, which sends the server nothing. Both use the same
 * client in the same process, so its own cost is in both. Then requests without a client (`mcp-requests.ts`). `node bench/mcp.ts [--quick]`
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { median } from './load.ts';
import { measureRequests } from './mcp-requests.ts';
import { startServers, type Server, type Servers } from './servers.ts';
import { createApi } from './setup.ts';

const quick = process.argv.includes('--quick');
const effort = quick ? { rounds: 3, ms: 600 } : { rounds: 5, ms: 1_000 };
const eras = { modern: { pin: '2026-07-28' }, legacy: 'legacy' } as const;
type Era = keyof typeof eras;
const concurrencies = [1, 16];
const listings = quick ? 20 : 100;

type Side = { p50: number; p99: number; perSecond: number };
type Endpoint = { url: string; key: string | null; tool: string };

const work = {
  toolset: 'requests',
  local: { name: 'calculate', arguments: { expression: '6 * 7' } },
  upstream: { name: 'tool-7-alias', arguments: { query: 'whales', limit: 3 } },
};

const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
try {
  const upstream = await servers.startMcpUpstream();
  await setUp(servers, upstream);
  await measureCalls(servers, upstream);
  await measureListing(servers, upstream);
  await measureRequests(servers, work, effort);
} finally {
  await servers.stop();
}

async function setUp(running: Servers, upstream: Server): Promise<void> {
  const api = createApi(running);
  for (const era of Object.keys(eras))
    await api.send('PUT', `/v1/servers/${era}`, { kind: 'mcp', url: `${upstream.url}/mcp`, era, trusted: true });
  const { tools } = await api.send<{ tools: { name: string }[] }>('GET', '/v1/servers/modern');
  const entries = (era: string) => tools.map(({ name }) => ({ tool: `${era}.${name}`, aliases: [`${name.replaceAll('_', '-')}-alias`] }));
  for (const era of Object.keys(eras)) await api.send('PUT', `/v1/toolsets/${era}`, { tools: entries(era) });
  await api.send('PUT', '/v1/toolsets/requests', { tools: [{ tool: 'local.calculate', aliases: [] }, ...entries('modern').slice(1)] });
}

async function measureCalls(running: Servers, upstream: Server): Promise<void> {
  console.log(`Medians of ${effort.rounds} paired rounds of ${effort.ms} ms; the client is the SDK's on both sides.\n`);
  console.log('| era | at once | p50 ms direct | ours | added | p99 ms direct | ours | added | calls/s direct | ours | x |');
  console.log(`|${'---|'.repeat(11)}`);
  for (const era of Object.keys(eras) as Era[]) {
    const direct = { url: `${upstream.url}/mcp`, key: null, tool: 'tool_7' };
    const ours = { url: `${running.ours.url}/mcp/${era}`, key: running.key, tool: 'tool-7-alias' };
    for (const concurrency of concurrencies) console.log(await compare(era, concurrency, direct, ours));
  }
}

async function compare(era: Era, concurrency: number, direct: Endpoint, ours: Endpoint): Promise<string> {
  for (const endpoint of [direct, ours]) await run(era, concurrency, endpoint, effort.ms / 2);
  const rounds: { direct: Side; ours: Side }[] = [];
  for (let round = 0; round < effort.rounds; round++) {
    const first = await run(era, concurrency, round % 2 === 0 ? direct : ours, effort.ms);
    const second = await run(era, concurrency, round % 2 === 0 ? ours : direct, effort.ms);
    rounds.push(round % 2 === 0 ? { direct: first, ours: second } : { direct: second, ours: first });
  }
  const middle = (pick: (round: { direct: Side; ours: Side }) => number, digits = 2): string => median(rounds.map(pick)).toFixed(digits);
  const cells = [
    era,
    concurrency,
    middle(({ direct: { p50 } }) => p50),
    middle(({ ours: { p50 } }) => p50),
    middle((round) => round.ours.p50 - round.direct.p50),
    middle(({ direct: { p99 } }) => p99),
    middle(({ ours: { p99 } }) => p99),
    middle((round) => round.ours.p99 - round.direct.p99),
    middle(({ direct: { perSecond } }) => perSecond, 0),
    middle(({ ours: { perSecond } }) => perSecond, 0),
    middle((round) => round.ours.perSecond / round.direct.perSecond),
  ];
  return `| ${cells.join(' | ')} |`;
}

/** As many clients as concurrent calls: each waits for its response before its next call. */
async function run(era: Era, concurrency: number, endpoint: Endpoint, ms: number): Promise<Side> {
  const clients = await Promise.all(Array.from({ length: concurrency }, () => connect(era, endpoint)));
  const times: number[] = [];
  const started = performance.now();
  const callUntil = async (client: Client): Promise<void> => {
    while (performance.now() - started < ms) {
      const sent = performance.now();
      const { isError } = await client.callTool({ name: endpoint.tool, arguments: { query: 'whales', limit: 3 } });
      if (isError === true) throw new Error(`${endpoint.url} refused the call`);
      times.push(performance.now() - sent);
    }
  };
  await Promise.all(clients.map(callUntil));
  const seconds = (performance.now() - started) / 1000;
  await Promise.all(clients.map((client) => client.close()));
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), perSecond: times.length / seconds };
}

async function connect(era: Era, { url, key }: Endpoint): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: eras[era] } });
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
}

async function measureListing(running: Servers, upstream: Server): Promise<void> {
  const asked = async (): Promise<Record<string, number>> =>
    (await fetch(`${upstream.url}/counts`)).json() as Promise<Record<string, number>>;
  let failed = false;
  console.log('');
  for (const era of Object.keys(eras) as Era[]) {
    const client = await connect(era, { url: `${running.ours.url}/mcp/${era}`, key: running.key, tool: '' });
    const list = () => client.listTools(undefined, { cacheMode: 'refresh' });
    const { tools } = await list();
    const before = await asked();
    const times: number[] = [];
    for (let index = 0; index < listings; index++) {
      const sent = performance.now();
      await list();
      times.push(performance.now() - sent);
    }
    const calls = ((await asked())['tools/list'] ?? 0) - (before['tools/list'] ?? 0);
    // The service reads a list that has become old again in the background.
    const isServedFromCache = calls <= 1;
    failed ||= !isServedFromCache || tools.length !== 1_000;
    console.log(
      `${isServedFromCache ? 'pass' : 'FAIL'}: ${era}: ${tools.length} tools listed ${listings} times warm, p50 ${median(times).toFixed(1)} ms, ${calls} calls of the server behind`,
    );
    await client.close();
  }
  if (failed) process.exitCode = 1;
}
