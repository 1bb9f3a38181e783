/** Compares the product with the floor: alternating rounds, ratios within a round, medians over the rounds. */
import { load, median, type LoadResult, type Prepared } from './load.ts';
import { cpuMsOf, familyOf } from './process-usage.ts';
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

export type Contestant = { server: Server; requests: readonly Prepared[] };

type Load = Pick<Scenario, 'name' | 'connections' | 'sse' | 'events' | 'warmMs'>;

export async function measurePair(scenario: Scenario, servers: Servers, effort: Effort): Promise<PairResult> {
  const ms = Math.max(scenario.ms ?? 0, effort.ms);
  const [floor, ours] = await compare(
    scenario,
    [
      { server: servers.floor, requests: scenario.floor(servers) },
      { server: servers.ours, requests: await scenario.ours(servers) },
    ],
    { rounds: scenario.rounds ?? effort.rounds, ms },
  );
  if (floor === undefined || ours === undefined) throw new Error('compare measures every contestant');
  const { name, connections, sse } = scenario;
  return { name, connections, sse, floor: floor.side, ours: ours.side, ratio: ours.ratio, added: ours.added };
}

/** Measures servers in turn, in reverse order every other round. Ratios and differences are to the first one, within a round. */
export async function compare(
  scenario: Load,
  contestants: readonly Contestant[],
  { rounds, ms }: Effort,
): Promise<{ rounds: readonly Side[]; side: Side; ratio: PairResult['ratio']; added: PairResult['added'] }[]> {
  for (const contestant of contestants) await warmUp(scenario, contestant);
  const measured: Side[][] = contestants.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = [...contestants.entries()];
    for (const [index, contestant] of round % 2 === 0 ? order : order.reverse()) measured[index]?.push(await run(scenario, contestant, ms));
  }
  const first = measured[0] ?? [];
  return measured.map((sides) => {
    const middle = (pick: (side: Side, base: Side) => number): number =>
      median(sides.flatMap((side, round) => (first[round] === undefined ? [] : [pick(side, first[round])])));
    const of = (field: keyof Side): number => middle((side) => side[field]);
    const ratio = (field: keyof Side): number => middle((side, base) => side[field] / base[field]);
    const added = (field: keyof Side): number => middle((side, base) => side[field] - base[field]);
    return {
      rounds: sides,
      side: {
        cpuUs: of('cpuUs'),
        requestsPerSecond: of('requestsPerSecond'),
        eventsPerSecond: of('eventsPerSecond'),
        p50: of('p50'),
        p99: of('p99'),
        first50: of('first50'),
      },
      ratio: {
        cpu: ratio('cpuUs'),
        requestsPerSecond: ratio('requestsPerSecond'),
        eventsPerSecond: ratio('eventsPerSecond'),
        p99: ratio('p99'),
      },
      added: { p50: added('p50'), first50: added('first50') },
    };
  });
}

async function warmUp(scenario: Load, { requests }: Contestant): Promise<void> {
  const result = await load(requests, { connections: scenario.connections, ms: scenario.warmMs ?? 600, sse: scenario.sse });
  check(scenario, result);
}

async function run(scenario: Load, { server, requests }: Contestant, ms: number): Promise<Side> {
  const family = familyOf(server.pid);
  const before = cpuMsOf(family);
  const result = await load(requests, { connections: scenario.connections, ms, sse: scenario.sse });
  check(scenario, result);
  const { requestsPerSecond, eventsPerSecond, p50, p99, first50 } = result;
  return {
    cpuUs: ((cpuMsOf(family) - before) * 1000) / result.answers,
    requestsPerSecond,
    eventsPerSecond,
    p50,
    p99,
    first50,
  };
}

/** Throws for a wrong response, which must not count as a fast one. */
function check(scenario: Load, result: LoadResult): void {
  const fewEvents = scenario.events !== undefined && result.eventsPerAnswer < scenario.events;
  if (result.answers > 0 && result.bad === 0 && result.errors === 0 && !fewEvents) return;
  throw new Error(
    `${scenario.name}: ${result.answers} answers, ${result.bad} with an error status, ${result.errors} broken, ${result.eventsPerAnswer.toFixed(1)} events each`,
  );
}
