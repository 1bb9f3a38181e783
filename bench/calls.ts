/**
 * Tool calls over REST without a session, whose audit rows are durable before the response: one that may have an effect (an intent and an
 * outcome), and one that only reads. `node bench/calls.ts [--quick]`
 */
import { load, prepare } from './load.ts';
import { startServers } from './servers.ts';
import { createApi } from './setup.ts';

const ms = process.argv.includes('--quick') ? 1_500 : 5_000;
const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
try {
  await createApi(servers).send('PUT', '/v1/toolsets/bench', {
    tools: ['builtin.bash', 'builtin.list_directory'].map((tool) => ({ tool, aliases: [] })),
  });
  const call = (name: string, args: object) =>
    prepare(`${servers.ours.url}/v1/toolsets/bench/calls`, {
      headers: { authorization: `Bearer ${servers.key}` },
      body: { name, arguments: args },
    });
  const kinds = [
    ['with an effect', call('bash', { command: 'echo hello' })],
    ['reading', call('list_directory', {})],
  ] as const;
  console.log('| call | at once | p50 ms | p99 ms | calls/s | failed |');
  console.log(`|${'---|'.repeat(6)}`);
  for (const [what, request] of kinds)
    for (const connections of [1, 10, 50]) {
      await load([request], { connections, ms: ms / 3, sse: false });
      const { p50, p99, requestsPerSecond, bad, errors } = await load([request], { connections, ms, sse: false });
      console.log(
        `| ${what} | ${connections} | ${p50.toFixed(2)} | ${p99.toFixed(2)} | ${requestsPerSecond.toFixed(0)} | ${bad + errors} |`,
      );
    }
} finally {
  await servers.stop();
}
