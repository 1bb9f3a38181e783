/** Programs that try to hold the thread, through the running service: each ends soon, and the service responds to others meanwhile. */
import { beforeAll, expect, it } from 'vitest';
import { hostilePrograms } from '../sandbox/hostile-programs.ts';
import { sample } from '../selection.ts';
import { waitMs } from '../busy-machine.ts';
import { shareService } from './shared-service.ts';
import { printStatistics } from '../statistics.ts';

const service = shareService();
const programs = sample('hostile programs through the service', hostilePrograms, (_, index) => index % 8 === 5);

let keys: string[] = [];
beforeAll(async () => {
  const tools = ['run_code', 'read_file'].map((name) => ({ tool: `builtin.${name}`, name }));
  expect((await service.call('PUT', '/v1/toolsets/code', { tools })).status).toBeLessThan(300);
  keys = await Promise.all(
    ['one', 'two'].map(async (name) => (await service.call('POST', '/v1/keys', { name, scopes: ['tools'] })).json.key as string),
  );
});

type Run = { name: string; ms: number; code: string };

async function run(name: string, code: string, key: string): Promise<Run> {
  const began = performance.now();
  const body = { name: 'run_code', arguments: { code } };
  const { status, text, json } = await service.call('POST', '/v1/toolsets/code/calls', body, { authorization: `Bearer ${key}` });
  expect(status, `${name}: ${text}`).toBe(200);
  return { name, ms: Math.round(performance.now() - began), code: json.isError ? json.code : 'returned' };
}

/** Requests `/healthz` repeatedly on a separate connection while `work` runs. Returns the longest response time. */
async function probe(work: () => Promise<void>): Promise<number> {
  let isDone = false;
  let longest = 0;
  const probing = (async () => {
    while (!isDone) {
      const began = performance.now();
      expect((await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(waitMs) })).status).toBe(200);
      longest = Math.max(longest, Math.round(performance.now() - began));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  try {
    await work();
  } finally {
    isDone = true;
    await probing;
  }
  return longest;
}

it('ends every program and responds meanwhile, four programs of two keys at a time', { timeout: 300_000 }, async () => {
  const left = [...programs];
  const runs: Run[] = [];
  const longest = await probe(async () => {
    const worker = async (_: unknown, index: number): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        runs.push(await run(next.name, next.code, keys[index % keys.length] ?? ''));
      }
    };
    await Promise.all(Array.from({ length: 4 }, worker));
  });
  const slowest = runs.toSorted((a, b) => b.ms - a.ms).slice(0, 3);
  printStatistics(
    `${runs.length} programs: longest response ${longest} ms, slowest ${slowest.map(({ name, ms }) => `${ms} ms (${name})`).join(', ')}`,
  );
  expect(runs).toHaveLength(programs.length);
  expect(runs.filter(({ code }) => !['returned', 'timeout', 'limit_reached', 'tool_error'].includes(code))).toEqual([]);
});
