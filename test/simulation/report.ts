/**
 * Many runs in a row. `MONIKER_SIM_RUNS` is the number of runs of all tiers together, `MONIKER_SIM_SEED` the first seed: a failed run
 * is repeated with its seed and a count of 1.
 */
import { selection } from '../selection.ts';
import type { Tier } from './machine.ts';
import { shrink, simulate } from './simulate.ts';
import { printStatistics } from '../statistics.ts';

export const firstSeed = numberFrom('MONIKER_SIM_SEED', 1);
export const allRuns = numberFrom('MONIKER_SIM_RUNS', selection === 'all' ? 100_000 : 600);

function numberFrom(name: string, otherwise: number): number {
  const value = process.env[name];
  if (value === undefined || value === '') return otherwise;
  if (!/^\d+$/.test(value)) throw new Error(`${name} is a whole number, not "${value}".`);
  return Number(value);
}

export type Report = {
  runs: number;
  events: Map<string, number>;
  deaths: Map<string, number>;
  /** Of the first run that broke an invariant: how to repeat it, and its whole trace. null when none did. */
  violation: string | null;
};

export async function runMany(name: string, tier: Tier, runs: number): Promise<Report> {
  const report: Report = { runs: 0, events: new Map(), deaths: new Map(), violation: null };
  const began = performance.now();
  // Refusals are errors, whose main cost is the stack trace. The explained run has them again.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  for (let seed = firstSeed; seed < firstSeed + runs; seed += 1) {
    const { violation, events, deaths } = await simulate(tier, seed);
    report.runs += 1;
    for (const event of events) count(report.events, kindOf(event), 1);
    for (const [where, times] of deaths) count(report.deaths, where, times);
    // Lets the test runner do its own work.
    if (seed % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    if (violation === null) continue;
    Error.stackTraceLimit = stackTraceLimit;
    report.violation = await explain(name, tier, seed, violation);
    break;
  }
  Error.stackTraceLimit = stackTraceLimit;
  const seconds = (performance.now() - began) / 1000;
  const total = [...report.deaths.values()].reduce((sum, times) => sum + times, 0);
  printStatistics(
    `simulation (${name}): ${report.runs} runs, seeds ${firstSeed}–${firstSeed + report.runs - 1}, ${total} deaths, ` +
      `${[...report.events.values()].reduce((sum, times) => sum + times, 0)} events, ${seconds.toFixed(1)} s, ${Math.round(report.runs / seconds)} runs/s`,
  );
  return report;
}

async function explain(name: string, tier: Tier, seed: number, violation: string): Promise<string> {
  const { commands, outcome } = await shrink(tier, seed);
  return [
    `seed ${seed} (${name}): ${violation}`,
    `MONIKER_SIM_SEED=${seed} MONIKER_SIM_RUNS=1 replays it. Shortened while it still fails: ${outcome.violation ?? ''}`,
    ...commands.map((command) => JSON.stringify(command)),
    '',
    ...outcome.trace,
  ].join('\n');
}

function kindOf(event: { type: string; code?: string; decision?: string; reason?: string }): string {
  if (event.type === 'tool-result') return `tool-result ${event.code ?? 'ok'}`;
  if (event.type === 'approval-decided') return `approval-decided ${event.decision ?? ''}`;
  return event.type === 'turn-end' ? `turn-end ${event.reason ?? ''}` : event.type;
}

function count(counts: Map<string, number>, key: string, times: number): void {
  counts.set(key, (counts.get(key) ?? 0) + times);
}

/** Compares two runs of one seed: they must be equal, or the seed does not repeat a run. */
export async function runTwice(tier: Tier, seed: number): Promise<[unknown, unknown]> {
  const [first, second] = [await simulate(tier, seed), await simulate(tier, seed)];
  return [
    [first.events, [...first.deaths]],
    [second.events, [...second.deaths]],
  ];
}

/** What thousands of runs must have reached in order to prove anything. */
export function unseen({ events, deaths }: Report, { crashPoints, whole }: Tier): string[] {
  const kinds = [
    ...[
      'ok',
      'unknown_tool',
      'truncated',
      'invalid_arguments',
      'invalid_json',
      'denied',
      'timeout',
      'tool_error',
      'aborted',
      'outcome_unknown',
      'limit_reached',
    ].map((code) => `tool-result ${code}`),
    ...['approve', 'deny', 'expire'].map((decision) => `approval-decided ${decision}`),
    ...['stop', 'max_steps', 'cancelled', 'recovery_limit', 'upstream_error', 'max_tokens', 'length', 'content_filter', 'timeout'].map(
      (reason) => `turn-end ${reason}`,
    ),
    ...[
      'turn-resume',
      'step-restart',
      'client-tool-required',
      'approval-required',
      'inner-result',
      'compaction',
      ...(whole ? ['turn-input'] : []),
    ],
  ];
  return [
    ...kinds.filter((kind) => !events.has(kind)),
    ...[...crashPoints, 'anywhere', 'again and again', 'takeover'].filter((where) => !deaths.has(where)),
  ];
}
