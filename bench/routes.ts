/**
 * Routes: how often requests fail over targets that fail, in simulated time, and what the CPU of a routed request costs compared with the same
 * request by a plain alias, measured in the running service. Exit code 1 when a goal is missed.
 *
 *   node bench/routes.ts [--requests 100000] [--rounds 9] [--ms 2000] [--simulated]
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
    rounds: { type: 'string', default: '9' },
    ms: { type: 'string', default: '2000' },
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
    const contestants = ['plain', ...strategies].map((model) => ({
      server: servers.ours,
      requests: [
        prepare(`${url}/v1/chat/completions`, {
          headers: { authorization: `Bearer ${servers.key}` },
          body: { model, messages, stream: false },
        }),
      ],
    }));
    const measured = await compare({ name: 'routes', connections: 10, sse: false, warmMs: 4_000 }, contestants, effort);
    console.log('\n| alias | CPU, µs a request | ratio |\n|---|---|---|');
    for (const [index, { side, ratio }] of measured.entries())
      console.log(`| ${['plain', ...strategies][index]} | ${side.cpuUs.toFixed(0)} | ${ratio.cpu.toFixed(3)} |`);
    return measured.every(({ ratio }) => ratio.cpu <= maxCpuRatio);
  } finally {
    await servers.stop();
  }
}
