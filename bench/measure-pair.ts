/** Compares the product with the floor: alternating rounds, ratios within a round, medians over the rounds. */
import { load, median, type LoadResult, type Prepared } from './load.ts';
import { measure } from './process-usage.ts';
import type { Scenario } from './scenarios.ts';
import type { Server, Servers } from './servers.ts';

export type Side = { cpuUs: number; requestsPerSecond: number; eventsPerSecond: number; p50: number; p99: number; first50: number };
export type PairResult = {
  name: string;
  connections: number;
  sse: boolean;
  floor: Side;
  ours: Side;
  /** The product's value divided by the floor's. */
  ratio: { cpu: number; requestsPerSecond: number; eventsPerSecond: number; p99: number };
  /** Milliseconds that the product adds. */
  added: { p50: number; first50: number };
};

export type Effort = { rounds: number; ms: number };

type Contestant = { server: Server; requests: readonly Prepared[] };

export async function measurePair(scenario: Scenario, servers: Servers, effort: Effort): Promise<PairResult> {
  const floor = { server: servers.floor, requests: scenario.floor(servers) };
  const ours = { server: servers.ours, requests: await scenario.ours(servers) };
  const ms = Math.max(scenario.ms ?? 0, effort.ms);
  for (const contestant of [floor, ours]) await warmUp(scenario, contestant);
  const rounds: { floor: Side; ours: Side }[] = [];
  for (let round = 0; round < (scenario.rounds ?? effort.rounds); round++) {
    if (round % 2 === 0) {
      const first = await run(scenario, floor, ms);
      rounds.push({ floor: first, ours: await run(scenario, ours, ms) });
    } else {
      const first = await run(scenario, ours, ms);
      rounds.push({ floor: await run(scenario, floor, ms), ours: first });
    }
  }
  const middle = (pick: (round: { floor: Side; ours: Side }) => number): number => median(rounds.map(pick));
  const side = (of: 'floor' | 'ours'): Side => ({
    cpuUs: middle((round) => round[of].cpuUs),
    requestsPerSecond: middle((round) => round[of].requestsPerSecond),
    eventsPerSecond: middle((round) => round[of].eventsPerSecond),
    p50: middle((round) => round[of].p50),
    p99: middle((round) => round[of].p99),
    first50: middle((round) => round[of].first50),
  });
  const ratio = (field: keyof Side): number => middle((round) => round.ours[field] / round.floor[field]);
  return {
    name: scenario.name,
    connections: scenario.connections,
    sse: scenario.sse,
    floor: side('floor'),
    ours: side('ours'),
    ratio: {
      cpu: ratio('cpuUs'),
      requestsPerSecond: ratio('requestsPerSecond'),
      eventsPerSecond: ratio('eventsPerSecond'),
      p99: ratio('p99'),
    },
    added: {
      p50: middle((round) => round.ours.p50 - round.floor.p50),
      first50: middle((round) => round.ours.first50 - round.floor.first50),
    },
  };
}

async function warmUp(scenario: Scenario, { requests }: Contestant): Promise<void> {
  const result = await load(requests, { connections: scenario.connections, ms: 800, sse: scenario.sse });
  check(scenario, result);
}

async function run(scenario: Scenario, { server, requests }: Contestant, ms: number): Promise<Side> {
  const before = measure(server.pid);
  const result = await load(requests, { connections: scenario.connections, ms, sse: scenario.sse });
  check(scenario, result);
  const { requestsPerSecond, eventsPerSecond, p50, p99, first50 } = result;
  return {
    cpuUs: ((measure(server.pid).cpuMs - before.cpuMs) * 1000) / result.answers,
    requestsPerSecond,
    eventsPerSecond,
    p50,
    p99,
    first50,
  };
}

/** Throws for a wrong response, which must not count as a fast one. */
function check(scenario: Scenario, result: LoadResult): void {
  const fewEvents = scenario.events !== undefined && result.eventsPerAnswer < scenario.events;
  if (result.answers > 0 && result.bad === 0 && result.errors === 0 && !fewEvents) return;
  throw new Error(
    `${scenario.name}: ${result.answers} answers, ${result.bad} with an error status, ${result.errors} broken, ${result.eventsPerAnswer.toFixed(1)} events each`,
  );
}
