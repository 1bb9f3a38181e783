/**
 * Routes: how often requests fail over targets that fail, in simulated time, and what the CPU of a routed request costs compared with the same
 * request by a plain alias, measured in the running service. Exit code 1 when a goal is missed by more than the noise.
 *
 *   node bench/routes.ts [--requests 100000] [--rounds 121] [--ms 150] [--simulated]
 */
import { parseArgs } from 'node:util';
import { prepare } from './load.ts';
import { compare } from './measure-pair.ts';
import { runners, simulate } from './route-simulation.ts';
import { startServers } from './servers.ts';
import { createApi, setUp } from './setup.ts';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '121' },
    ms: { type: 'string', default: '150' },
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
    const costs = measured.map(({ rounds }) => rounds.map(({ cpuUs }) => cpuUs));
    const [first = [], last = []] = [costs[0], costs.at(-1)];
    const show = (name: string, own: readonly number[], bases: readonly (readonly number[])[]): number => {
      const ratio = share(own, 0.25) / share(bases.flat(), 0.25);
      const ofRounds = own.map((cost, round) => (cost * bases.length) / bases.reduce((sum, base) => sum + (base[round] ?? cost), 0));
      const half = [0.25, 0.75].map((at) => share(ofRounds, at).toFixed(3)).join(' to ');
      console.log(`| ${name} | ${share(own, 0.25).toFixed(0)} | ${ratio.toFixed(3)} | ${share(ofRounds, 0.5).toFixed(3)} | ${half} |`);
      return ratio;
    };
    console.log(
      '\nCPU of the quiet quarter: other work on the machine only adds. The last row is the noise: the plain alias over itself.\n',
    );
    console.log('| alias | CPU, µs a request | ratio | median ratio of the rounds | middle half |\n|---|---|---|---|---|');
    const ratios = strategies.map((name, index) => show(name, costs[index + 1] ?? [], [first, last]));
    const noise = Math.abs(show('plain, again', last, [first]) - 1);
    return ratios.every((ratio) => ratio <= maxCpuRatio + noise);
  } finally {
    await servers.stop();
  }
}

/** Returns the value that this share of the values is below. */
function share(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * at)] ?? Number.NaN;
}
