/**
 * The start: CPU time of workerd's main thread from its start to its first response, for three kinds of first request, next to a Worker that
 * only says hello and is started in the same way. `node bench/start.ts [--quick]`
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureBundle } from '../src/local/build/bundle.ts';
import { claimPort } from '../src/local/launch/port.ts';
import { startRuntime } from '../src/local/launch/runtime.ts';
import { mainModule, modulesFolder, type WorkerConfig, workerConfigFile } from '../src/local/launch/worker-config.ts';
import { median } from './load.ts';

const rounds = process.argv.includes('--quick') ? 5 : 7;
const mostMs = 150;
/** A run writes the compiled configuration for the next starts a few seconds after its own. */
const compiledTimeoutMs = 30_000;

type Start = { cpuMs: number; wallMs: number; rssMb: number };
type Target = { bundle: string; stateDir: string; variables: Record<string, string> };
type FirstRequest = { path: string; init?: RequestInit };

const directory = mkdtempSync(join(tmpdir(), 'moniker-start-'));
const provider = createServer((request, response) => {
  request.resume().on('end', () => {
    const message = { role: 'assistant', content: 'Hello.' };
    const reply = { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
  });
}).listen(0, '127.0.0.1');
try {
  await new Promise((resolve) => provider.once('listening', resolve));
  const rootKey = 'bench-root-key-0123456789abcdef0123456789';
  const headers = { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' };
  const ours: Target = {
    bundle: await ensureBundle(join(directory, 'bundle'), () => undefined),
    stateDir: join(directory, 'ours'),
    variables: {
      MONIKER_ROOT_KEY: rootKey,
      MONIKER_MASTER_KEY: 'bench-master-key-0123456789abcdef01234567',
      MONIKER_LOG: 'error',
      MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*',
    },
  };
  const hello: Target = { bundle: writeHello(join(directory, 'hello-bundle')), stateDir: join(directory, 'hello'), variables: {} };
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`; // a TCP server has one
  const put = { method: 'PUT', headers, body: JSON.stringify({ kind: 'openai-compatible', baseUrl }) };
  await prepare(ours, { path: '/v1/providers/mock', init: put });
  await prepare(hello, { path: '/' });
  const chat = JSON.stringify({ model: 'mock/m', messages: [{ role: 'user', content: 'Hello' }] });
  const cases: [name: string, target: Target, request: FirstRequest][] = [
    ['hello Worker', hello, { path: '/' }],
    ['GET /healthz', ours, { path: '/healthz' }],
    ['GET /v1/toolsets', ours, { path: '/v1/toolsets', init: { headers } }],
    ['POST /v1/chat/completions', ours, { path: '/v1/chat/completions', init: { method: 'POST', headers, body: chat } }],
  ];
  const starts = new Map<string, Start[]>(cases.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++)
    for (const [name, target, request] of round % 2 === 0 ? cases : cases.toReversed())
      starts.get(name)?.push(await measureStart(target, request));
  console.log(`Medians of ${rounds} starts of each. CPU: of workerd's main thread, from its start to its first response.\n`);
  console.log('| first request | CPU ms | ms from listening to the response | memory MB |\n|---|---|---|---|');
  const cpu = (name: string): number => median((starts.get(name) ?? []).map(({ cpuMs }) => cpuMs));
  for (const [name, measured] of starts) {
    const [wallMs, rssMb] = [median(measured.map((start) => start.wallMs)), median(measured.map((start) => start.rssMb))];
    console.log(`| ${name} | ${cpu(name).toFixed(0)} | ${wallMs.toFixed(0)} | ${rssMb.toFixed(0)} |`);
  }
  const worst = Math.max(...cases.slice(1).map(([name]) => cpu(name)));
  const holds = worst <= mostMs;
  console.log(
    `\n${holds ? 'pass' : 'FAIL'}: CPU of a start ${worst.toFixed(0)} ms at worst (at most ${mostMs}), a hello Worker ${cpu('hello Worker').toFixed(0)} ms`,
  );
  if (!holds) process.exitCode = 1;
} finally {
  provider.close();
  rmSync(directory, { recursive: true, force: true });
}

async function measureStart(target: Target, { path, init }: FirstRequest): Promise<Start> {
  const port = await claimPort(0);
  const runtime = await startRuntime({ ...target, port, onLog: console.error });
  try {
    const listening = performance.now();
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    const text = await response.text();
    const wallMs = performance.now() - listening;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    const pid = Number.parseInt(readFileSync(join(target.stateDir, 'workerd.pid'), 'utf8'), 10);
    // Nanoseconds: the ticks of /proc/<pid>/stat are 10 ms.
    const cpuMs = Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    const rss = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return { cpuMs, wallMs, rssMb: Number(rss?.[1] ?? 0) / 1024 };
  } finally {
    await runtime.dispose();
  }
}

/** A first run, which stores what the requests need and compiles the configuration. */
async function prepare(target: Target, { path, init }: FirstRequest): Promise<void> {
  const port = await claimPort(0);
  const runtime = await startRuntime({ ...target, port, onLog: console.error });
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    const deadline = performance.now() + compiledTimeoutMs;
    while (!readdirSync(target.stateDir).some((name) => name.endsWith('.bin'))) {
      if (performance.now() > deadline) throw new Error('the configuration was not compiled');
      await sleep(100);
    }
  } finally {
    await runtime.dispose();
  }
}

function writeHello(bundle: string): string {
  mkdirSync(join(bundle, modulesFolder), { recursive: true });
  writeFileSync(join(bundle, modulesFolder, mainModule), "export default { fetch: () => new Response('hello') };");
  const config: WorkerConfig = {
    name: 'hello',
    compatibility_date: '2026-11-17',
    compatibility_flags: [],
    kv_namespaces: [],
    durable_objects: { bindings: [] },
  };
  writeFileSync(join(bundle, workerConfigFile), JSON.stringify(config));
  return bundle;
}
