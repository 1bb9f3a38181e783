/** The runtime of `npm start` with a small Worker: what replaces Cloudflare's services, crashes, reloads, and what a killed start leaves. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { abandoned, joinWork } from '../../../src/engine/timeout.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { claimPort } from '../../../src/local/launch/port.ts';
import { startRuntime, type Runtime, type RuntimeOptions } from '../../../src/local/launch/runtime.ts';
import { mainModule, modulesFolder, pagesFolder, workerConfigFile } from '../../../src/local/launch/worker-config.ts';
import { parseLogLine } from '../../../src/local/workerd/process.ts';
import { waitUntil } from '../../wait-for.ts';

const worker = (version: number) => `
import { DurableObject } from 'cloudflare:workers';
export class Counter extends DurableObject {
  async next() {
    const count = ((await this.ctx.storage.get('count')) ?? 0) + 1;
    await this.ctx.storage.put('count', count);
    return count;
  }
  async startAndReset() {
    started = scheduler.wait(600_000);
    await scheduler.wait(100);
    this.ctx.abort('reset');
  }
}
let started;
const acts = {
  version: () => ${version},
  settings: (env) => [env.SETTING, env.ABSENT ?? null],
  count: (env) => env.COUNTER.getByName('one').next(),
  kv: async ({ KV }) => {
    await KV.put('a/ü', 'small', { expirationTtl: 600 });
    await KV.put('past', 'old', { expiration: Math.floor(Date.now() / 1000) + 61 });
    await KV.put('b', 'x'.repeat(3_000_000));
    await KV.put('c', 'gone');
    await KV.delete('c');
    const listed = (await KV.list({ prefix: 'a' })).keys.map(({ name }) => name);
    return [await KV.get('a/ü'), (await KV.get('b')).length, await KV.get('c'), await KV.get('past'), listed];
  },
  ended: async ({ COUNTER }) => {
    await COUNTER.getByName('reset').startAndReset().catch(() => undefined);
    return await started.then(() => 'settled', (error) => error.message);
  },
  kept: async ({ KV }) => await KV.get('a/ü'),
  bucket: async ({ BUCKET }) => {
    const stored = await BUCKET.put('audit/log one/1.ndjson', 'line', { httpMetadata: { contentType: 'application/x-ndjson' } });
    return [stored.key, stored.size, await BUCKET.get('audit').catch((error) => String(error))];
  },
  pages: async ({ ASSETS }) => {
    const page = await ASSETS.fetch('http://pages/docs.html');
    const etag = page.headers.get('etag');
    const again = await ASSETS.fetch('http://pages/docs.html', { headers: { 'if-none-match': 'W/' + etag } });
    const others = await Promise.all(['/', '/none.html', '/assets', '/../worker.mjs', '/docs.txt'].map((path) => ASSETS.fetch('http://pages' + path)));
    return [await page.text(), page.headers.get('content-type'), again.status, ...others.map(({ status }) => status)];
  },
};
export default {
  async fetch(request, env) {
    const act = acts[new URL(request.url).pathname.slice(1)];
    return Response.json(await act(env));
  },
};`;

const config = {
  name: 'probe',
  compatibility_date: '2026-11-17',
  compatibility_flags: [],
  kv_namespaces: [{ binding: 'KV' }],
  r2_buckets: [{ binding: 'BUCKET', bucket_name: 'exports' }],
  durable_objects: { bindings: [{ name: 'COUNTER', class_name: 'Counter' }] },
  assets: { binding: 'ASSETS', html_handling: 'none' },
  exports: { Counter: { type: 'durable-object', storage: 'sqlite' } },
};

const directory = mkdtempSync(join(tmpdir(), 'moniker-runtime-'));
const stateDir = join(directory, 'state');
const log: string[] = [];
let options: RuntimeOptions;
let runtime: Runtime;

beforeAll(async () => {
  const port = await claimPort(0);
  options = { bundle: writeBundle('one', worker(1)), stateDir, port, variables: { SETTING: 'a "b" é' }, onLog: (line) => log.push(line) };
  // Of a release before this runtime.
  runtime = await startRuntime(options);
});

afterAll(async () => {
  await runtime.dispose();
  rmSync(directory, { recursive: true });
});

function writeBundle(name: string, source: string) {
  const folder = join(directory, name);
  mkdirSync(join(folder, pagesFolder, 'assets'), { recursive: true });
  mkdirSync(join(folder, modulesFolder));
  writeFileSync(join(folder, modulesFolder, mainModule), source);
  writeFileSync(join(folder, workerConfigFile), JSON.stringify(config));
  writeFileSync(join(folder, pagesFolder, 'docs.html'), '<p>docs');
  writeFileSync(join(folder, pagesFolder, 'docs.txt'), 'of a type that pages do not have');
  return folder;
}

async function ask(act: string): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${options.port}/${act}`, { signal: AbortSignal.timeout(20_000) });
  return await response.json();
}

it('passes settings as text, and writes none of them to its configuration', async () => {
  expect(await ask('settings')).toEqual(['a "b" é', null]);
  expect(readFileSync(join(stateDir, 'workerd.capnp'), 'utf8')).not.toContain('é');
});

it('stores KV values with their expiry, small and large, and lists their keys', async () => {
  expect(await ask('kv')).toEqual(['small', 3_000_000, null, 'old', ['a/ü']]);
  const folder = join(stateDir, 'kv/values');
  expect(readdirSync(folder)).toHaveLength(3);
});

it('writes objects of a bucket as files, and refuses to read them', async () => {
  expect(await ask('bucket')).toEqual(['audit/log one/1.ndjson', 4, expect.stringContaining('can only be written to')]);
  expect(readFileSync(join(stateDir, 'r2/exports/audit/log one/1.ndjson'), 'utf8')).toBe('line');
});

it('serves the pages by exact path, with type and ETag, and nothing else', async () => {
  expect(await ask('pages')).toEqual(['<p>docs', 'text/html; charset=utf-8', 304, 404, 404, 404, 404, 404]);
});

it('rejects a promise of a request that has ended as `joinWork` recognizes it', async () => {
  const rejected = Promise.reject(new Error(String(await ask('ended'))));
  expect(await joinWork(systemClock, rejected, 60_000)).toBe(abandoned);
});

it('starts the runtime again after a crash, with its data', async () => {
  expect(await ask('count')).toBe(1);
  process.kill(Number.parseInt(readFileSync(join(stateDir, 'workerd.pid'), 'utf8'), 10), 'SIGKILL');
  await waitUntil(async () => (await ask('count').catch(() => 0)) === 2);
  expect(log.some((line) => line.includes('ended (exit SIGKILL). It is started again'))).toBe(true);
  expect(await ask('kept')).toBe('small');
});

it('continues with a new bundle, and keeps the last one if the new one fails', async () => {
  await runtime.reload(writeBundle('two', worker(2)));
  expect(await ask('version')).toBe(2);
  const failed = runtime.reload(writeBundle('three', 'throw new Error(\'no such tool: "x"\')'));
  await expect(failed).rejects.toThrow('The service cannot start: no such tool: "x"');
  expect(await ask('version')).toBe(2);
});

it('ends the runtime of a start that was killed, and deletes expired values', async () => {
  const left = readFileSync(join(stateDir, 'workerd.pid'), 'utf8');
  const values = join(stateDir, 'kv/values');
  for (const [name, expiry] of [
    ['expired', 1],
    ['kept', 4e12],
  ] as const)
    writeFileSync(join(values, name), `${String(expiry).padStart(15, '0')}\nvalue`);
  const next = await startRuntime({ ...options, port: await claimPort(0) });
  await waitUntil(() => !existsSync(join(values, 'expired')));
  expect(existsSync(join(values, 'kept'))).toBe(true);
  await next.dispose();
  await waitUntil(() => log.filter((line) => line.includes('ended (exit SIGKILL)')).length === 2);
  expect(Number.parseInt(left, 10)).toBeGreaterThan(0);
  await waitUntil(async () => (await ask('count').catch(() => 0)) === 3);
});

it('starts from the compiled configuration of an earlier run, and from the text if that is damaged', async () => {
  const state = join(directory, 'compiled');
  const own = { ...options, stateDir: state, port: await claimPort(0) };
  const compiled = (): string[] => readdirSync(state).filter((name) => name.endsWith('.bin'));
  const version = async (): Promise<unknown> => await (await fetch(`http://127.0.0.1:${own.port}/version`)).json();
  const first = await startRuntime(own);
  await waitUntil(() => compiled().length === 1);
  await first.dispose();
  const second = await startRuntime(own);
  expect(await version()).toBe(1);
  await second.dispose();
  writeFileSync(join(state, compiled()[0] ?? ''), 'damaged');
  const third = await startRuntime(own);
  expect(await version()).toBe(1);
  expect(compiled()).toEqual([]);
  await third.dispose();
});

it('says in its log that the disk is full, and passes other lines through', () => {
  const message =
    'e = workerd/util/sqlite.c++:1827: failed: SQLite failed; dbErrorMessage(err, db) = database or disk is full: SQLITE_FULL';
  const texts = [JSON.stringify({ message, level: 'error' }), JSON.stringify({ message: 'turn ended', level: 'info' }), 'plain text'];
  expect(texts.map(parseLogLine)).toEqual([
    { message: expect.stringContaining('The disk of the data folder is full'), level: 'error' },
    { message: 'turn ended', level: 'info' },
    { message: 'plain text', level: 'error' },
  ]);
});

it('names a port that another program took', async () => {
  const other = createServer();
  const port = await new Promise<number>((resolve) => {
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)); // a TCP server has one
  });
  await runtime.dispose();
  await expect(startRuntime({ ...options, port })).rejects.toThrow('Another program took the port');
  other.close();
});
