/** Serves the minimal webhook receiver on the same runtime as the product. `node bench/bare-hook.ts <port>`. */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { hookSecret } from './hook-deliveries.ts';

const source = stripTypeScriptTypes(readFileSync(join(import.meta.dirname, 'bare-hook-worker.ts'), 'utf8'));

const miniflare = new Miniflare({
  host: '127.0.0.1',
  port: 0,
  cf: false,
  logRequests: false,
  workers: [
    {
      config: {
        name: 'bare-hook',
        compatibilityDate: '2026-11-17',
        manifest: { mainModule: 'bare-hook.js', modules: { 'bare-hook.js': { type: 'esm', contents: source } } },
        env: { SECRET: { type: 'text', value: hookSecret } },
      },
      dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: Number(process.argv[2]) }] },
    },
  ],
});
await miniflare.ready;
