/**
 * Routes: how often requests fail over targets that fail, in simulated time, and what the CPU of a routed request costs compared with the same
 * request by a plain alias, measured in the running service. Exit code 1 when a goal is missed.
 *
 *   node bench/routes.ts [--requests 100000] [--rounds 61] [--ms 300] [--simulated]
 */
import { parseArgs } from 'node:util';
import { median, prepare } from './load.ts';
import { compare, type Side } from './measure-pair.ts';
import { runners, simulate } from './route-simulation.ts';
import { startServers } from './servers.ts';
import { createApi, setUp } from './setup.ts';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '61' },
    ms: { type: 'string', default: '300' },
    simulated: { type: 'boolean', default: false },
  },
});
const maxCpuRatio = 1.05;
const strategies = ['in-order', 'weighted', 'least-busy', 'lowest-latency'] as const;

const isAvailable = await simulateAll(Number(options.requests));
const isCheap = options.simulated || (await measureCpu({ rounds: Number(options.rounds), ms: Number(options.ms) }));
process.exitCode = isAvailable && isCheap ? 0 : 1;

/** No strategy may fail more often than the best target alone. */
async function simulateAll(requests: number): Promise<boolean> {
  console.log(`${requests} requests in simulated time, 20 a second\n`);
  console.log('| requests to | failed | availability | attempts | failed attempts | median ms | p99 ms |');
  console.log('|---|---|---|---|---|---|---|');
  let least = requests;
  let most = 0;
  for (const runner of runners) {
    const { name, failed, availability, attempts, wasted, medianMs, p99Ms } = await simulate(runner, { requests });
    if (typeof runner.route === 'string') least = Math.min(least, failed);
    else most = Math.max(most, failed);
    console.log(
      `| ${name} | ${failed} | ${(availability * 100).toFixed(3)} % | ${attempts.toFixed(3)} | ${wasted.toFixed(3)} | ${medianMs} | ${p99Ms} |`,
    );
  }
  return most <= least;
}

async function measureCpu(effort: { rounds: number; ms: number }): Promise<boolean> {
  const servers = await startServers();
  try {
    await setUp(servers);
    const api = createApi(servers);
    // Like the first: another kind of provider, or one with a key, costs more by itself.
    await api.send('PUT', '/v1/providers/mock-two', { kind: 'openai-compatible', baseUrl: `${servers.upstream.url}/v1` });
    const targets = ['mock', 'mock-two'].map((provider) => ({ model: `${provider}/mock-c20` }));
    await api.send('PUT', '/v1/model-aliases/plain', { model: 'mock/mock-c20' });
    for (const strategy of strategies) await api.send('PUT', `/v1/model-aliases/${strategy}`, { targets, strategy });
    const messages = [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content: 'Hello, what is the weather in Paris today?' },
    ];
    const { url } = servers.ours;
    // The plain alias is measured at both ends of each round: its own difference is the noise, and its mean takes out a drift within the round.
    const names = ['plain', ...strategies, 'plain'];
    const contestants = names.map((model) => ({
      server: servers.ours,
      requests: [
        prepare(`${url}/v1/chat/completions`, {
          headers: { authorization: `Bearer ${servers.key}` },
          body: { model, messages, stream: false },
        }),
      ],
    }));
    const measured = await compare({ name: 'routes', connections: 10, sse: false, warmMs: 4_000 }, contestants, effort);
    const [first = [], last = []] = [measured[0]?.rounds, measured.at(-1)?.rounds];
    const plain = first.map(({ cpuUs }, round) => (cpuUs + (last[round]?.cpuUs ?? cpuUs)) / 2);
    const ratios = (sides: readonly Side[]): number[] =>
      sides.map(({ cpuUs }, round) => cpuUs / (plain[round] ?? cpuUs)).sort((a, b) => a - b);
    console.log('\n| alias | CPU, µs a request | ratio | middle half of the rounds |\n|---|---|---|---|');
    const medians = strategies.map((name, index) => {
      const { rounds, side } = measured[index + 1] ?? { rounds: [], side: null };
      const found = ratios(rounds);
      console.log(`| ${name} | ${side?.cpuUs.toFixed(0)} | ${median(found).toFixed(3)} | ${middleHalf(found)} |`);
      return median(found);
    });
    const noise = first.map(({ cpuUs }, round) => (last[round]?.cpuUs ?? cpuUs) / cpuUs).sort((a, b) => a - b);
    console.log(`| plain | ${median(plain).toFixed(0)} | 1 | |`);
    console.log(`| noise: plain over plain | | ${median(noise).toFixed(3)} | ${middleHalf(noise)} |`);
    return medians.every((ratio) => ratio <= maxCpuRatio);
  } finally {
    await servers.stop();
  }
}

/** Half of the rounds are within. `sorted`: rising. */
function middleHalf(sorted: readonly number[]): string {
  const at = (share: number): string => (sorted[Math.round((sorted.length - 1) * share)] ?? Number.NaN).toFixed(3);
  return `${at(0.25)} to ${at(0.75)}`;
}
