/**
 * `npm run bench [-- --quick] [-- --only <text>]`: compares the product with the minimal Worker, on the same runtime in the same run. Read
 * the ratios; the absolute numbers depend on the machine. Linux only (/proc). Fails when a required goal does.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { judge, number, type Verdict } from './goals.ts';
import { countKvReads } from './kv-reads.ts';
import { measurePair, type PairResult } from './measure-pair.ts';
import { measure } from './process-usage.ts';
import { listScenarios } from './scenarios.ts';
import { startServers, type Servers } from './servers.ts';
import { measureSessions } from './sessions.ts';
import { eventsOfOneTurn, setUp } from './setup.ts';

const quick = process.argv.includes('--quick');
const only = process.argv[process.argv.indexOf('--only') + 1] ?? '';
const filtered = process.argv.includes('--only');
const effort = quick ? { rounds: 3, ms: 500 } : { rounds: 5, ms: 1_200 };

if (process.platform !== 'linux') {
  console.error('The benchmark reads CPU time and memory from /proc: it runs on Linux only.');
  process.exit(2);
}

const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
const verdicts: Verdict[] = [];
try {
  verdicts.push(...(await measureRequests(servers)));
  if (!filtered || 'sessions'.includes(only)) verdicts.push(...(await measureSessions(servers, quick)));
} finally {
  await servers.stop();
}
if (!filtered) {
  verdicts.push(await measureKvReads());
  for (const [script, required] of [
    ['resolve.ts', true],
    ['toolsets.ts', true],
    ['assemble.ts', false],
    ['validate.ts', false],
    ['mcp.ts', true],
    ['sandbox.ts', true],
    ['made-tools.ts', true],
    ['code-mode.ts', true],
    ['webhooks.ts', true],
  ] as const)
    verdicts.push(...runScript(script, required));
}
console.log('\nGoals');
for (const { goal, text, holds, required } of verdicts)
  console.log(`  ${holds ? 'pass' : required ? 'FAIL' : 'miss'}  ${goal.padEnd(4)} ${text}`);
process.exitCode = verdicts.some(({ holds, required }) => required && !holds) ? 1 : 0;

async function measureRequests(running: Servers): Promise<Verdict[]> {
  await setUp(running);
  const idle = { floor: measure(running.floor.pid).rssMb, ours: measure(running.ours.pid).rssMb };
  const results: PairResult[] = [];
  console.log(`Medians of ${effort.rounds} paired rounds of ${effort.ms} ms. "x": ours over the floor.\n`);
  console.log(
    '| scenario | connections | CPU us floor | ours | x | requests/s x | events/s x | p50 ms floor | added | p99 x | first event added |',
  );
  console.log(`|${'---|'.repeat(11)}`);
  for (const scenario of listScenarios(await eventsOfOneTurn(running))) {
    if (filtered && !scenario.name.includes(only)) continue;
    const result = await measurePair(scenario, running, effort);
    results.push(result);
    console.log(row(result));
  }
  const loaded = { floor: measure(running.floor.pid).rssMb, ours: measure(running.ours.pid).rssMb };
  const memory = loaded.ours / loaded.floor;
  const text = `memory after the load ${loaded.ours.toFixed(0)} MB (idle ${idle.ours.toFixed(0)}), floor ${loaded.floor.toFixed(0)} MB (idle ${idle.floor.toFixed(0)}): ${number(memory)} x (at most 1.3)`;
  return [...judge(results), { goal: 'G9', text, holds: memory <= 1.3, required: false }];
}

function row({ name, connections, sse, floor, ours, ratio, added }: PairResult): string {
  const cells = [
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
  return `| ${cells.join(' | ')} |`;
}

async function measureKvReads(): Promise<Verdict> {
  const { cold, warmRequests, warmReads, cacheApi } = await countKvReads();
  const text = `${warmReads} KV reads in ${warmRequests} warm requests (${cold} while cold), Cache API ${cacheApi ? 'used' : 'not used'}`;
  return { goal: 'G8', text, holds: warmReads === 0 && !cacheApi, required: true };
}

/** The benchmarks of pure code print their own tables; their exit code says whether they meet their goals. */
function runScript(script: string, required: boolean): Verdict[] {
  const path = join(import.meta.dirname, script);
  if (!existsSync(path)) return [];
  console.log(`\n${script}`);
  const { status } = spawnSync(process.execPath, [path, ...(quick ? ['--quick', '--rounds', '3'] : [])], { stdio: 'inherit' });
  const goals = new Map([
    ['resolve.ts', 'G8'],
    ['toolsets.ts', 'T1'],
    ['assemble.ts', 'A/R'],
    ['validate.ts', 'V1'],
    ['mcp.ts', 'M1'],
    ['sandbox.ts', 'S1'],
    ['made-tools.ts', 'S2'],
    ['code-mode.ts', 'S3'],
    ['webhooks.ts', 'H1'],
  ]);
  return [{ goal: goals.get(script) ?? script, text: `${script}: see its table above`, holds: status === 0, required }];
}
