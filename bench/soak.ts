/**
 * `npm run bench:soak [-- --minutes 10] [-- --only soak,live,growth] [-- --messages 100000]`: the service under mixed work for minutes,
 * many sessions live at once, and how costs grow with what is stored. Writes the results to docs/benchmarks.md and bench/results/ if all parts ran in full. A line
 * "NOT MET" fails the run.
 * Linux only (/proc). Exit code 1 if anything was lost, doubled or failed.
 */
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { number, type Verdict } from './goals.ts';
import { untilSettled } from './hook-deliveries.ts';
import { percentile } from './load.ts';
import { measureRuntime } from './process-usage.ts';
import { Report } from './report.ts';
import { startServers, type Servers } from './servers.ts';
import { createApi } from './setup.ts';
import { balance } from './soak/balance.ts';
import { measureGrowth } from './soak/growth.ts';
import { Ledger, type Sample } from './soak/ledger.ts';
import { measureLiveSessions } from './soak/live-sessions.ts';
import { mix, prepareWork, webhooks, type Work } from './soak/work.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    only: { type: 'string', default: 'soak,live,growth' },
    /** Messages of the long session; 100,000 take some minutes more. */
    messages: { type: 'string', default: '10000' },
  },
});
const minutes = Number(options.minutes);
const parts = options.only.split(',');

/** Of the rate that the first phase has measured. */
const loadShare = 0.8;
const warmUpMs = Math.min(10_000, minutes * 2_000);
const capacityMs = Math.min(45_000, minutes * 10_000);
const capacityWorkers = 16;
/** With more requests than this in flight the service no longer keeps up: the next ones wait, and their latency includes the wait. */
const maxInFlight = 500;
/** The samples of these kinds have a column each. */
const columns = ['chat', 'chat stream', 'MCP call', 'MCP call in a session', 'turn with a tool', 'webhook'];

const report = new Report();
const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
const verdicts: Verdict[] = [];
/** At the end of its part, so that a run that is stopped later has shown it. */
const judge = (ofPart: readonly Verdict[]): void => {
  report.line('');
  report.verdicts(ofPart);
  verdicts.push(...ofPart);
};
try {
  if (parts.includes('soak')) judge(await soak(servers));
  if (parts.includes('live')) judge(await measureLiveSessions(servers, report));
  if (parts.includes('growth')) await measureGrowth(servers, report, Number(options.messages));
} finally {
  await servers.stop();
}
if (parts.length === 3 && minutes >= 10) report.write('bench:soak');
process.exitCode = verdicts.some(({ required, holds }) => required && !holds) ? 1 : 0;

async function soak(running: Servers): Promise<Verdict[]> {
  const ledger = new Ledger();
  const upstream = await running.startMcpUpstream();
  const { works, close } = await prepareWork(running, upstream, ledger);
  const sequence = mix(works);
  const capacity = await measureCapacity(running, sequence, ledger);
  const rate = capacity * loadShare;
  report.section(
    `Mixed work, ${minutes} minutes`,
    `${works.map(({ name, share }) => `${share} % ${name}`).join(', ')}. ${capacityWorkers} clients did ${capacity.toFixed(0)} units a second, deliveries with their turns; the table is the load at ${loadShare * 100} % of that, ${rate.toFixed(0)} units a second, sent on schedule whether or not earlier ones have been answered. Times are p99 in ms from when a unit was due, with p50 in parentheses. Memory (resident) and open files are those of the runtime at the end of each minute.`,
  );
  report.table(['minute', 'units/s', 'failed', ...columns, 'in flight, most', 'memory MB', 'open files']);
  const memory: number[] = [];
  const load = offerLoad(sequence, rate, ledger);
  let failedBefore = ledger.failed;
  for (let minute = 1; minute <= minutes; minute++) {
    await sleep(Math.max(0, load.startedAt + minute * 60_000 - performance.now()));
    const samples = ledger.takeSamples();
    const { rssMb, openFiles } = measureRuntime(running.ours.pid);
    memory.push(rssMb);
    const cells = columns.map((name) => times(samples.filter(({ work }) => work === name)));
    report.row([
      minute,
      number(samples.length / 60),
      ledger.failed - failedBefore,
      ...cells,
      load.takeMostInFlight(),
      rssMb.toFixed(0),
      openFiles,
    ]);
    failedBefore = ledger.failed;
  }
  await load.stop();
  const verdictsOfBalance = await balance(running, upstream, ledger);
  await close();
  const [early = Number.NaN, late = Number.NaN] = [memory[Math.min(2, memory.length - 1)], memory.at(-1)];
  return [
    ...verdictsOfBalance,
    {
      text: `memory of the runtime after minute ${Math.min(3, minutes)} ${early.toFixed(0)} MB, at the end ${late.toFixed(0)} MB: ${number(late / early)} x (at most 1.2)`,
      holds: late / early <= 1.2,
      required: false,
    },
  ];
}

/** Units a second of concurrent clients, including the time in which the turns of their deliveries end. */
async function measureCapacity({ ours, key }: Servers, sequence: readonly Work[], ledger: Ledger): Promise<number> {
  const perform = async (ms: number): Promise<number> => {
    const started = performance.now();
    let next = 0;
    const client = async (): Promise<void> => {
      while (performance.now() - started < ms) await runUnit(sequence[next++ % sequence.length]!, performance.now(), ledger);
    };
    await Promise.all(Array.from({ length: capacityWorkers }, client));
    for (const webhook of webhooks) await untilSettled(createApi({ ours, key }), webhook);
    ledger.takeSamples();
    return (next * 1_000) / (performance.now() - started);
  };
  await perform(warmUpMs);
  return perform(capacityMs);
}

/** Starts units at a steady rate until `stop`, which waits for those in flight. */
function offerLoad(sequence: readonly Work[], perSecond: number, ledger: Ledger) {
  const startedAt = performance.now();
  const inFlight = new Set<Promise<void>>();
  let started = 0;
  let most = 0;
  const tick = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond;
    for (; started < due && inFlight.size < maxInFlight; started++) {
      const unit = runUnit(sequence[started % sequence.length]!, startedAt + (started * 1_000) / perSecond, ledger);
      inFlight.add(unit);
      void unit.then(() => inFlight.delete(unit));
    }
    most = Math.max(most, inFlight.size);
  }, 5);
  return {
    startedAt,
    takeMostInFlight(): number {
      const taken = most;
      most = 0;
      return taken;
    },
    async stop(): Promise<void> {
      clearInterval(tick);
      await Promise.all(inFlight);
    },
  };
}

async function runUnit(work: Work, dueAt: number, ledger: Ledger): Promise<void> {
  try {
    await work.run();
    ledger.samples.push({ work: work.name, ms: performance.now() - dueAt });
  } catch (error) {
    ledger.failure(work.name, error);
  }
}

function times(samples: readonly Sample[]): string {
  const sorted = samples.map(({ ms }) => ms).toSorted((one, other) => one - other);
  return `${percentile(sorted, 0.99).toFixed(0)} (${percentile(sorted, 0.5).toFixed(0)})`;
}
