/** Tests in the Workers runtime, with the bindings of wrangler.toml: storage, the Durable Objects, HTTP journeys. */
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { excludedFiles } from './selection.ts';
import { buildEngine } from '../src/local/build-engine.ts';

buildEngine();

const root = `${import.meta.dirname}/..`;

export default defineConfig({
  plugins: [
    cloudflareTest({
      wrangler: { configPath: `${root}/wrangler.toml` },
      miniflare: {
        bindings: {
          MONIKER_ROOT_KEY: 'root-key-of-the-tests-0123456789abcdef',
          MONIKER_MASTER_KEY: 'master-key-of-the-tests-0123456789abcdef',
          MONIKER_LOG: 'error',
        },
      },
    }),
  ],
  test: {
    name: 'workers',
    root,
    include: ['test/**/*.workers.test.ts'],
    exclude: excludedFiles,
    maxWorkers: 2,
    // One runtime for each worker instead of one for each file: a third of the time. Files share the modules (and their
    // caches), but not the storage.
    isolate: false,
    setupFiles: ['test/empty-storage.ts'],
    testTimeout: 30_000,
  },
});
