/** `moniker replay` against a running service: what it reports, and Ctrl-C. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenUpstream } from '../fakes/upstreams/upstream.ts';
import { waitFor } from '../wait-for.ts';
import { root } from './service.ts';
import { shareService } from './shared-service.ts';

const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
const folder = mkdtempSync(join(tmpdir(), 'moniker-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Requests to the model `slow/hangs`, which never responds. */
let waiting = 0;
let close = (): void => undefined;
afterAll(() => close());

beforeAll(async () => {
  const upstream = await listenUpstream({
    handle: (request) => {
      waiting += 1;
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));
    },
  });
  close = () => upstream.close();
  const provider = { kind: 'openai-compatible', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['hangs'] };
  const toolset = { tools: [{ tool: 'builtin.bash', name: 'lookup' }] };
  const documents = {
    'providers/slow': provider,
    'toolsets/orders': toolset,
    'agents/orders': { model: 'rehearsal/default', instructions: '', toolset: 'orders' },
    'suites/orders': { select: { agent: 'orders' }, rules: [{ calls: 'same' }] },
  };
  for (const [path, body] of Object.entries(documents)) expect((await service.call('PUT', `/v1/${path}`, body)).status, path).toBe(201);
  for (const order of [1, 2, 3]) {
    const { id } = (await service.call('POST', '/v1/sessions', { agent: 'orders' })).json;
    await service.call('POST', `/v1/sessions/${id}/turns`, { input: `/lookup echo order ${order}` });
  }
});

/** `onError`: called with what was printed on stderr so far. */
function replay(parameters: readonly string[], onError: (printed: string, interrupt: () => void) => void = () => undefined) {
  const environment = { ...process.env, MONIKER_URL: service.url, MONIKER_KEY: service.key };
  const child = spawn(process.execPath, [join(root, 'src/cli/main.ts'), 'replay', '--suite', 'orders', ...parameters], {
    ...{ cwd: folder, env: environment, timeout: 120_000 },
  });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    printed.stdout += chunk.toString('utf8');
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed.stderr += chunk.toString('utf8');
    onError(printed.stderr, () => void child.kill('SIGINT'));
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, ...printed })),
  );
}

it('holds for a renamed tool of the project file, and exits with 1 for calls that differ, with a JUnit report', async () => {
  const project = (aliases: string) => `toolsets: { orders: { tools: [{ tool: builtin.bash, name: find_order${aliases} }] } }\n`;
  writeFileSync(join(folder, 'moniker.yaml'), project(', aliases: [lookup]'));
  const held = await replay(['--toolset', 'orders@draft', '--fail-on', 'any', '--junit', 'replay.xml']);
  expect([held.code, held.stdout]).toEqual([0, expect.stringContaining('3 cases: 3 same. Rules: 3 hold, 0 do not.')]);
  expect(readFileSync(join(folder, 'replay.xml'), 'utf8')).toContain('tests="3" failures="0" errors="0" skipped="0"');

  writeFileSync(join(folder, 'moniker.yaml'), project(''));
  const differs = await replay(['--toolset', 'orders@draft', '--fail-on', 'calls', '--junit', 'replay.xml', '--json']);
  expect([differs.code, JSON.parse(differs.stdout).replay.cases]).toMatchObject([1, { total: 3, different: 3 }]);
  const xml = readFileSync(join(folder, 'replay.xml'), 'utf8');
  expect(xml).toContain('tests="3" failures="3"');
  expect(xml.match(/- builtin\.bash .*\n\+ lookup \(no such tool\)/g)).toHaveLength(3);
  // The draft was not stored.
  expect((await service.call('GET', '/v1/toolsets/orders')).json.tools[0].name).toBe('lookup');
});

it('cancels the replay on Ctrl-C: the case that runs and the rest are skipped', async () => {
  let isInterrupted = false;
  const { code, stdout, stderr } = await replay(
    ['--model', 'slow/hangs', '--concurrency', '1', '--fail-on', 'any', '--json'],
    (printed, interrupt) => {
      if (isInterrupted || !printed.startsWith('Replay ')) return;
      isInterrupted = true;
      void waitFor(() => expect(waiting).toBe(1)).then(interrupt);
    },
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining('was not completed: cancelled')]);
  const { id, status, cases } = JSON.parse(stdout).replay;
  expect([status, cases]).toMatchObject(['cancelled', { total: 3, same: 0, different: 0, skipped: 3 }]);
  expect((await service.call('GET', `/v1/replays/${id}`)).json.status).toBe('cancelled');
});
