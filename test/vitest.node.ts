/** Tests that run in plain Node: everything that needs neither the Workers runtime nor a running service. */
import { defineConfig } from 'vitest/config';
import { excludedFiles } from './selection.ts';
import { repeatInCi, waitMs } from './busy-machine.ts';
import { wasmModules } from './wasm-modules.ts';
import { buildEngine } from '../src/local/build/build-engine.ts';

buildEngine();

const root = `${import.meta.dirname}/..`;

/** These replace modules of the project with mocks, which would affect every file that imports them later. */
const filesWithMocks = ['test/simulation/*.test.ts', 'test/objects/session/turn/proposals.test.ts'];

const setupFiles = ['test/service-errors.ts', 'test/property-runs.ts'];

/** The Durable Objects of `src` are plain classes here. */
const resolve = { alias: { 'cloudflare:workers': `${import.meta.dirname}/fakes/cloudflare-workers.ts` } };

const common = {
  root,
  environment: 'node',
  setupFiles: ['test/unread-refusals.ts'] as string[],
  // Threads start in half the time of processes, and no test needs a separate process.
  pool: 'threads',
  // Much more than any test needs, so that a busy machine fails none.
  // The largest products of `npm run test:all` take half a minute on an idle machine.
  testTimeout: 300_000,
  hookTimeout: 120_000,
  retry: repeatInCi,
  expect: { poll: { timeout: waitMs } },
} as const;

export default defineConfig({
  test: {
    // More workers than cores would only take turns.
    maxWorkers: 2,
    projects: [
      {
        plugins: [wasmModules()],
        resolve,
        test: {
          ...common,
          setupFiles,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.workers.test.ts', 'test/**/*.e2e.test.ts', 'test/**/*.crash.test.ts', ...filesWithMocks, ...excludedFiles],
          // Modules are loaded once for all files instead of once for each file: half of the time.
          isolate: false,
        },
      },
      { resolve, test: { ...common, setupFiles, name: 'node, alone', include: filesWithMocks, exclude: excludedFiles } },
    ],
  },
});
