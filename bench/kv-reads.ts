/**
 * Counts the KV reads of a warm request (the goal is none). The built bundle runs with a KV binding that counts and forwards; the first
 * requests fill the isolate's caches, the next ones are counted. Cache API: the bundle must not contain it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { ensureBundle } from '../src/local/build/bundle.ts';
import { claimPort } from '../src/local/launch/port.ts';
import { mainModule, modulesFolder } from '../src/local/launch/worker-config.ts';
import { createApi } from './setup.ts';

export type KvReads = { cold: number; warmRequests: number; warmReads: number; cacheApi: boolean };

const warmRequests = 20;

const counterSource = `
import { WorkerEntrypoint } from 'cloudflare:workers';
let reads = 0;
export class CountingKv extends WorkerEntrypoint {
  get(...args) { reads++; return this.env.REAL.get(...args); }
  getWithMetadata(...args) { reads++; return this.env.REAL.getWithMetadata(...args); }
  list(...args) { reads++; return this.env.REAL.list(...args); }
  put(...args) { return this.env.REAL.put(...args); }
  delete(...args) { return this.env.REAL.delete(...args); }
}
export default { fetch() { return Response.json(reads); } };`;

export async function countKvReads(): Promise<KvReads> {
  const directory = mkdtempSync(join(tmpdir(), 'moniker-bench-kv-'));
  const bundle = await ensureBundle(join(directory, 'bundle'), () => {});
  const folder = join(bundle, modulesFolder);
  const code = readFileSync(join(folder, mainModule), 'utf8');
  const modules = readModules(folder);
  const provider = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      '{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}',
    );
  });
  const providerPort = await claimPort(0);
  await new Promise<void>((resolve) => provider.listen(providerPort, '127.0.0.1', resolve));
  const [appPort, counterPort] = [await claimPort(0), await claimPort(0)];
  const rootKey = 'bench-root-key-0123456789abcdef0123456789';
  const durableObject = (exportName: string) => ({ type: 'durable-object' as const, worker: 'moniker', exportName });
  const text = (value: string) => ({ type: 'text' as const, value });
  const esm = (contents: string) => ({ type: 'esm' as const, contents });
  const date = { compatibilityDate: '2026-11-17' };
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    logRequests: false,
    workers: [
      {
        config: {
          ...date,
          name: 'moniker',
          manifest: { mainModule, modules },
          env: {
            KV: { type: 'worker', worker: 'counter', exportName: 'CountingKv' },
            CATALOG: durableObject('Catalog'),
            SESSION: durableObject('Session'),
            USAGE: durableObject('UsageShard'),
            MONIKER_ROOT_KEY: text(rootKey),
            MONIKER_MASTER_KEY: text('bench-master-key-0123456789abcdef0123456789'),
            MONIKER_ALLOW_PRIVATE_HOSTS: text('providers:127.0.0.1:*'),
            MONIKER_LOG: text('error'),
          },
          exports: {
            Catalog: { type: 'durable-object', storage: 'sqlite' },
            Session: { type: 'durable-object', storage: 'sqlite' },
            UsageShard: { type: 'durable-object', storage: 'sqlite' },
          },
        },
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: appPort }] },
      },
      {
        config: {
          ...date,
          name: 'counter',
          manifest: { mainModule: 'counter.js', modules: { 'counter.js': esm(counterSource) } },
          env: { REAL: { type: 'kv', id: 'real' } },
        },
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: counterPort }] },
      },
    ],
  });
  try {
    await miniflare.ready;
    const api = createApi({ ours: { url: `http://127.0.0.1:${appPort}`, pid: 0 }, key: rootKey });
    const readsSoFar = async (): Promise<number> => (await (await fetch(`http://127.0.0.1:${counterPort}/`)).json()) as number; // our own worker's response
    await api.send('PUT', '/v1/providers/mock', { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${providerPort}/v1` });
    await api.send('PUT', '/v1/toolsets/bench', { tools: [{ tool: 'builtin.bash', name: 'run', aliases: ['shell'] }] });
    const request = async (): Promise<void> => {
      await api.send('GET', '/v1/toolsets/bench/resolve?name=shell');
      await api.send('POST', '/v1/chat/completions', { model: 'mock/m', messages: [{ role: 'user', content: 'hi' }] });
    };
    const atStart = await readsSoFar();
    await request();
    await request();
    const warm = await readsSoFar();
    for (let index = 0; index < warmRequests; index++) await request();
    return {
      cold: warm - atStart,
      warmRequests: warmRequests * 2,
      warmReads: (await readsSoFar()) - warm,
      cacheApi: /\bcaches\s*\.\s*(default|open)\b/.test(code),
    };
  } finally {
    await miniflare.dispose();
    provider.closeAllConnections();
    provider.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Module = { type: 'esm'; contents: string } | { type: 'wasm'; contents: Uint8Array<ArrayBuffer> };

/** The modules of a bundle: its scripts and its `.wasm` files, by file name. */
function readModules(directory: string): Record<string, Module> {
  const modules: Record<string, Module> = {};
  for (const file of readdirSync(directory)) {
    const path = join(directory, file);
    if (file.endsWith('.mjs')) modules[file] = { type: 'esm', contents: readFileSync(path, 'utf8') };
    if (file.endsWith('.wasm')) modules[file] = { type: 'wasm', contents: new Uint8Array(readFileSync(path)) };
  }
  return modules;
}
