/** Pure tests, in Node: everything that needs neither the Workers runtime nor a running service. */
import { defineConfig } from 'vitest/config';
import { wasmModules } from './wasm-modules.ts';
import { buildEngine } from '../src/local/build-engine.ts';

buildEngine();

const root = `${import.meta.dirname}/..`;

/** These put other modules in the place of ours, which is felt by whoever imports them after. */
const withOtherModules = ['test/simulation/*.test.ts', 'test/session/proposals.test.ts'];

/** Without those that go through whole corpora again and again (`npm run test:fast`). */
const notNow = process.env.MONIKER_TESTS === 'fast' ? ['test/**/*.long.test.ts'] : [];

const common = {
  root,
  environment: 'node',
  // Begun in half the time of processes; nothing here needs one of its own.
  pool: 'threads',
  testTimeout: 30_000,
} as const;

export default defineConfig({
  test: {
    // Two workers: on a small shared machine more of them only take turns.
    maxWorkers: 2,
    projects: [
      {
        plugins: [wasmModules()],
        test: {
          ...common,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.workers.test.ts', 'test/**/*.e2e.test.ts', 'test/**/*.crash.test.ts', ...withOtherModules, ...notNow],
          // Modules are read once for all files instead of once a file: half of the time.
          isolate: false,
        },
      },
      { test: { ...common, name: 'node, alone', include: withOtherModules, exclude: notNow } },
    ],
  },
});
