/** Tests in the Workers runtime, over the bindings of wrangler.toml: storage, the Durable Objects, HTTP journeys. */
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
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
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
