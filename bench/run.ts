/**
 * `npm run bench [-- --quick] [-- --only <text>]`: compares the product with the minimal Worker, on the same runtime in the same run, and
 * writes the results to docs/benchmarks.md and bench/results/ if it is complete. Read the ratios; the absolute numbers depend on the machine. Linux only
 * (/proc). Fails when a required goal does.
 */
import { installClients } from '../test/install-clients.ts';
import { judge, number, type Verdict } from './goals.ts';
import { countKvReads } from './kv-reads.ts';
import { measurePair, type PairResult } from './measure-pair.ts';
import { measure } from './process-usage.ts';
import { Report } from './report.ts';
import { listScenarios } from './scenarios.ts';
import { startServers, type Servers } from './servers.ts';
import { measureSessions } from './sessions.ts';
import { eventsOfOneTurn, setUp } from './setup.ts';

installClients();
const quick = process.argv.includes('--quick');
const only = process.argv[process.argv.indexOf('--only') + 1] ?? '';
const filtered = process.argv.includes('--only');
const effort = quick ? { rounds: 3, ms: 500 } : { rounds: 5, ms: 800 };

/** The benchmarks of parts; each prints its own tables. `required`: the run fails if the part misses a goal. */
const parts: readonly { script: string; title: string; means: string; required: boolean; args?: readonly string[] }[] = [
  {
    script: 'start.ts',
    title: 'Start',
    means: 'CPU of the main thread from the start of the process to its first response, next to a Worker that only says hello.',
    required: false,
  },
  {
    script: 'mcp.ts',
    title: 'MCP calls',
    means: 'A tool call through `/mcp/{toolset}` and the same call made directly, both with the client of the official SDK.',
    required: true,
  },
  {
    script: 'webhooks.ts',
    title: 'Webhooks',
    means: 'Acknowledgement of signed deliveries, next to a Worker that only verifies the signature; a burst; refused signatures.',
    required: true,
  },
  {
    script: 'resolve.ts',
    title: 'Names',
    means: 'Resolving five names with a cached table, and a cold start of an edition next to `JSON.parse` of the same bytes.',
    required: true,
    args: ['--rounds', '5'],
  },
  {
    script: 'toolsets.ts',
    title: 'Large toolsets',
    means: 'Compiling, planning and filtering editions of up to 1,472 tools.',
    required: true,
    args: ['--rounds', '5'],
  },
  {
    script: 'assemble.ts',
    title: 'Assembling tool calls',
    means:
      'A streamed reply becomes tool calls: Moniker, and a floor that decodes, splits lines, parses each event and joins the text. Deltas of eight characters. Libraries: `npm run bench:peers`.',
    required: false,
    args: ['--rounds', '3', '--cases', 'par8,one,anth8'],
  },
  { script: 'repair.ts', title: 'Repairing arguments', means: 'Arguments with nine kinds of damage.', required: false },
  {
    script: 'validate.ts',
    title: 'Validating arguments',
    means: 'Next to zod, compiled as Workers run it.',
    required: false,
    args: ['--rounds', '5'],
  },
  { script: 'sandbox.ts', title: 'Sandboxed code', means: 'Code in QuickJS next to the same calls made directly.', required: true },
  {
    script: 'made-tools.ts',
    title: 'Made tools',
    means: 'A tool that a model has written, next to the call that it makes.',
    required: true,
  },
  { script: 'code-mode.ts', title: 'Code mode', means: 'What a model is sent for one question over 117 tools.', required: true },
];

if (process.platform !== 'linux') {
  console.error('The benchmark reads CPU time and memory from /proc: it runs on Linux only.');
  process.exit(2);
}

const report = new Report();
const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
const verdicts: Verdict[] = [];
try {
  verdicts.push(...(await measureRequests(servers)));
  if (!filtered || 'sessions'.includes(only)) {
    report.section('Sessions', 'Many sessions at once, and a long one.');
    const found = await measureSessions(servers, quick);
    report.verdicts(found);
    verdicts.push(...found);
  }
} finally {
  await servers.stop();
}
if (!filtered) {
  const { cold, warmRequests, warmReads, cacheApi } = await countKvReads();
  const text = `${warmReads} KV reads in ${warmRequests} warm requests (${cold} while cold), Cache API ${cacheApi ? 'used' : 'not used'}`;
  verdicts.push({ text, holds: warmReads === 0 && !cacheApi, required: true });
  for (const { script, title, means, required, args = [] } of parts) {
    report.section(title, means);
    const holds = await report.script(script, [...args, ...(quick ? ['--quick'] : [])]);
    verdicts.push({ text: `${title}: the goals of its section`, holds, required });
  }
}
report.section('Goals', 'NOT MET fails the run; missed goals are reported.');
report.verdicts(verdicts);
if (!filtered && !quick) report.write('bench', isShown);
process.exitCode = verdicts.some(({ required, holds }) => required && !holds) ? 1 : 0;

/** Of the requests: those of the goals, at ten connections. */
function isShown([scenario = '', connections]: readonly string[]): boolean {
  return connections === '10' && /^(?:chat|stream (?:passed|rewritten), burst|session turn|turn with|POST session)/.test(scenario);
}

async function measureRequests(running: Servers): Promise<Verdict[]> {
  await setUp(running);
  const idle = { floor: measure(running.floor.pid).rssMb, ours: measure(running.ours.pid).rssMb };
  const results: PairResult[] = [];
  report.section(
    'Requests',
    `Medians of ${effort.rounds} paired rounds of ${effort.ms} ms. "x" is Moniker over the floor; of CPU, time and memory less is better, of requests and events more. "Passed" replies go through as they are, "translated" ones from the provider's API to the client's; streams have 200 events.`,
  );
  report.table([
    'scenario',
    'connections',
    'CPU µs, floor',
    'CPU µs',
    'CPU x',
    'requests/s x',
    'events/s x',
    'p50 ms, floor',
    'p50 ms added',
    'p99 x',
    'first event, ms added',
  ]);
  for (const scenario of listScenarios(await eventsOfOneTurn(running))) {
    if (filtered && !scenario.name.includes(only)) continue;
    const result = await measurePair(scenario, running, effort);
    results.push(result);
    report.row(cells(result));
  }
  const loaded = { floor: measure(running.floor.pid).rssMb, ours: measure(running.ours.pid).rssMb };
  const memory = loaded.ours / loaded.floor;
  const text = `memory after the load ${loaded.ours.toFixed(0)} MB (idle ${idle.ours.toFixed(0)}), floor ${loaded.floor.toFixed(0)} MB (idle ${idle.floor.toFixed(0)}): ${number(memory)} x (at most 1.3)`;
  return [...judge(results), { text, holds: memory <= 1.3, required: false }];
}

function cells({ name, connections, sse, floor, ours, ratio, added }: PairResult): (string | number)[] {
  return [
    name,
    connections,
    floor.cpuUs.toFixed(0),
    ours.cpuUs.toFixed(0),
    number(ratio.cpu),
    number(ratio.requestsPerSecond),
    sse ? number(ratio.eventsPerSecond) : '-',
    number(floor.p50),
    number(added.p50),
    number(ratio.p99),
    sse ? number(added.first50) : '-',
  ];
}
