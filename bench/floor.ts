/** Serves the floor on the same runtime as the product. `node bench/floor.ts <port> <upstream url>`. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';

const [port, upstream] = process.argv.slice(2);
const source = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'floor-worker.ts'), 'utf8'));

const miniflare = new Miniflare({
  host: '127.0.0.1',
  port: 0,
  cf: false,
  logRequests: false,
  workers: [
    {
      config: {
        name: 'floor',
        compatibilityDate: '2026-11-17',
        manifest: { mainModule: 'floor.js', modules: { 'floor.js': { type: 'esm', contents: source } } },
        env: { UPSTREAM: { type: 'text', value: upstream ?? '' }, HOP: { type: 'durable-object', worker: 'floor', exportName: 'Hop' } },
        exports: { Hop: { type: 'durable-object', storage: 'sqlite' } },
      },
      dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: Number(port) }] },
    },
  ],
});
await miniflare.ready;
