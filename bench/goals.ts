/** The goals for the request path, judged on measured pairs. Those that are `required` pass or fail; the others are only printed. */
import type { PairResult } from './measure-pair.ts';

export type Verdict = { text: string; holds: boolean; required: boolean };

type Judge = (find: (name: string, connections: number) => PairResult) => { text: string; holds: boolean };

const judges: [required: boolean, judge: Judge][] = [
  [false, (find) => chatCpu(find('chat', 10), 1.4, 'chat')],
  [false, (find) => chatCpu(find('chat, 30 tools', 10), 1.9, 'chat with 30 tools')],
  [
    true,
    (find) => {
      const { added, ratio } = find('chat', 1);
      return {
        text: `chat adds ${number(added.p50)} ms p50 (at most 0.22), p99 ${number(ratio.p99)} x (at most 2)`,
        holds: added.p50 <= 0.22 && ratio.p99 <= 2,
      };
    },
  ],
  [
    false,
    (find) => {
      const pairs = [
        find('stream passed, burst', 1),
        find('stream passed, burst', 10),
        find('stream passed, yield', 1),
        find('stream passed, yield', 10),
      ];
      const events = Math.min(...pairs.map((pair) => pair.ratio.eventsPerSecond));
      const cpu = Math.max(...pairs.map((pair) => pair.ratio.cpu));
      const first = Math.max(...pairs.filter((pair) => pair.connections === 1).map((pair) => pair.added.first50));
      return {
        text: `stream passed: worst events/s ${number(events)} x (at least 0.9), CPU ${number(cpu)} x (at most 1.15), first event +${number(first)} ms (at most 1)`,
        holds: events >= 0.9 && cpu <= 1.15 && first <= 1,
      };
    },
  ],
  [
    false,
    (find) => {
      const one = Math.min(...['burst', 'yield'].map((pace) => find(`stream rewritten, ${pace}`, 1).ratio.eventsPerSecond));
      const ten = Math.min(...['burst', 'yield'].map((pace) => find(`stream rewritten, ${pace}`, 10).ratio.eventsPerSecond));
      const first = find('stream rewritten, yield', 1).added.first50;
      const paced = find('stream rewritten, paced', 20).ratio.cpu;
      return {
        text:
          `stream rewritten: events/s ${number(one)} x at 1 connection (at least 0.45), ${number(ten)} x at 10 (0.35), ` +
          `first event +${number(first)} ms (3), paced CPU ${number(paced)} x (3.3)`,
        holds: one >= 0.45 && ten >= 0.35 && first <= 3 && paced <= 3.3,
      };
    },
  ],
  [
    false,
    (find) => {
      const { ratio, added } = find('session turn', 10);
      return {
        text: `session turn: CPU ${number(ratio.cpu)} x the hop with the same rows, ${number(added.p50)} ms more p50 (reported)`,
        holds: true,
      };
    },
  ],
  [false, (find) => cpuOf(find('turn with a tool', 10), 4_500, 'a turn with a tool')],
  [false, (find) => cpuOf(find('POST session', 10), 3_000, 'a new session')],
];

/** Omits a goal whose scenario did not run. */
export function judge(results: readonly PairResult[]): Verdict[] {
  return [...judgeSingles(results), ...judgePairs(results)];
}

/** Dialects in front of providers: the goals of one client and one provider, judged by the worst of each kind. */
function judgePairs(results: readonly PairResult[]): Verdict[] {
  const rules = [
    {
      sort: /^translated.*plain$/,
      what: 'plain answers translated: CPU',
      most: 1.6,
      of: ({ ratio }: PairResult) => ratio.cpu,
    },
    { sort: /^passed.*stream$/, what: 'streams passed: CPU', most: 1.15, of: ({ ratio }: PairResult) => ratio.cpu },
    {
      sort: /^translated.*stream$/,
      what: 'streams translated: events/s',
      least: 0.35,
      of: ({ ratio }: PairResult) => ratio.eventsPerSecond,
    },
  ];
  return rules.flatMap(({ sort, what, most, least, of }) => {
    const found = results.filter(({ name }) => sort.test(name)).toSorted((a, b) => of(a) - of(b));
    const worst = most === undefined ? found[0] : found.at(-1);
    if (worst === undefined) return [];
    const value = of(worst);
    const text = `${what} ${number(of(found[0] ?? worst))} to ${number(of(found.at(-1) ?? worst))} x over ${found.length} pairs (worst ${worst.name}; ${most === undefined ? `at least ${least}` : `at most ${most}`})`;
    return [{ text, holds: most === undefined ? value >= (least ?? 0) : value <= most, required: false }];
  });
}

function judgeSingles(results: readonly PairResult[]): Verdict[] {
  const find = (name: string, connections: number): PairResult => {
    const result = results.find(
      (pair) => pair.name.startsWith(name) && pair.connections === connections && (name !== 'chat' || pair.name === name),
    );
    if (result === undefined) throw new MissingScenario(`${name}, ${connections}`);
    return result;
  };
  return judges.flatMap(([required, decide]) => {
    try {
      return [{ required, ...decide(find) }];
    } catch (error) {
      if (error instanceof MissingScenario) return [];
      throw error;
    }
  });
}

class MissingScenario extends Error {}

function chatCpu({ ratio }: PairResult, most: number, what: string): { text: string; holds: boolean } {
  return {
    text: `${what}: CPU ${number(ratio.cpu)} x (at most ${most}), requests/s ${number(ratio.requestsPerSecond)} x`,
    holds: ratio.cpu <= most,
  };
}

/** Goals in microseconds of CPU, which depend on the machine. */
function cpuOf({ ours, ratio }: PairResult, mostUs: number, what: string): { text: string; holds: boolean } {
  return {
    text: `${what}: CPU ${number(ours.cpuUs / 1000)} ms (at most ${number(mostUs / 1000)}), ${number(ratio.cpu)} x the floor`,
    holds: ours.cpuUs <= mostUs,
  };
}

/** For the output of a part, in which `report.ts` recognizes it. */
export function verdictLine({ text, holds, required }: Verdict): string {
  return `${holds ? 'pass' : required ? 'FAIL' : 'missed'}: ${text}`;
}

export function number(value: number): string {
  return value.toFixed(2);
}
