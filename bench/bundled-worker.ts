/** A worker of the benchmarks, bundled with what it measures and run in workerd. Used by `assembly-runtime.ts` and `sandbox.ts`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { Miniflare } from 'miniflare';

export type BundledWorker = { url: URL; close(): Promise<void> };

/** `entry`: a file of this folder. `wasm`: modules beside the bundle, by the name under which it imports them. */
export async function openBundledWorker(
  name: string,
  entry: string,
  { options = {}, wasm = {} }: { options?: BuildOptions; wasm?: Readonly<Record<string, string>> } = {},
): Promise<BundledWorker> {
  const folder = mkdtempSync(join(tmpdir(), `moniker-${name}-`));
  const script = join(folder, 'worker.js');
  await build({
    entryPoints: [join(import.meta.dirname, entry)],
    outfile: script,
    bundle: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    logLevel: 'error',
    ...options,
  });
  const wasmModules = Object.entries(wasm).map(
    ([file, path]) => [file, { type: 'wasm' as const, contents: new Uint8Array(readFileSync(path)) }] as const,
  );
  const runtime = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    cf: false,
    logRequests: false,
    workers: [
      {
        config: {
          name,
          compatibilityDate: '2026-11-17',
          manifest: {
            mainModule: 'worker.js',
            modules: { 'worker.js': { type: 'esm', contents: readFileSync(script, 'utf8') }, ...Object.fromEntries(wasmModules) },
          },
        },
      },
    ],
  });
  const url = await runtime.ready;
  return {
    url,
    async close() {
      await runtime.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
