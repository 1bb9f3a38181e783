/** Tests in the Workers runtime, with the bindings of wrangler.toml: storage, the Durable Objects, HTTP journeys. */
import { cloudflareTest } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { excludedFiles } from './selection.ts';
import { repeatInCi, waitMs } from './busy-machine.ts';
import { lateModules } from './late-modules.ts';
import { buildEngine } from '../src/local/build/build-engine.ts';
import { workerSettings } from '../src/local/launch/environment.ts';

buildEngine();

const root = `${import.meta.dirname}/..`;

/** Requests through the runtime's own entry (`exports.default`) hang when the worker's modules were loaded anew for the file. */
const filesWithEntry = ['test/objects/mcp-session/sessions.workers.test.ts'];

const workersRuntime = () =>
  cloudflareTest({
    wrangler: { configPath: `${root}/wrangler.toml` },
    miniflare: {
      r2Buckets: ['AUDIT_EXPORT'],
      bindings: {
        // The plugin reads `.dev.vars`, whose settings are not for tests. Without a value they are not set.
        ...Object.fromEntries(workerSettings.map((name) => [name, ''])),
        MONIKER_ROOT_KEY: 'root-key-of-the-tests-0123456789abcdef',
        MONIKER_MASTER_KEY: 'master-key-of-the-tests-0123456789abcdef',
        MONIKER_LOG: 'error',
        // For `selection.ts` and `statistics.ts`.
        MONIKER_TESTS: process.env.MONIKER_TESTS ?? '',
        MONIKER_STATISTICS: process.env.MONIKER_STATISTICS ?? '',
      },
    },
  });

const common = {
  root,
  testTimeout: 120_000,
  hookTimeout: 120_000,
  retry: repeatInCi,
  expect: { poll: { timeout: waitMs } },
  provide: { lateModules: lateModules() },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    // The OAuth library reports in each isolate that a feature is off, which the service does not use.
    onConsoleLog: (text) => !text.startsWith('CIMD (Client ID Metadata Document) is disabled'),
    // workerd's own hand-over of a promise between two objects fails when the one that waited is gone, as at the end of a file, whose objects are
    // ended. It is named by the type of that hand-over; what code here does with the streams and bodies of another object is named by theirs.
    onUnhandledError: ({ message }) => !message.endsWith('(I/O type: Lock&)>)'),
    projects: [
      {
        plugins: [workersRuntime()],
        test: {
          ...common,
          name: 'workers',
          include: ['test/**/*.workers.test.ts'],
          exclude: [...filesWithEntry, ...excludedFiles],
          // One runtime for each worker instead of one for each file: a third of the time.
          isolate: false,
          setupFiles: ['test/service-errors.ts', 'test/empty-storage.ts', 'test/unread-refusals.ts'],
        },
      },
      {
        plugins: [workersRuntime()],
        test: {
          ...common,
          name: 'workers, alone',
          setupFiles: ['test/service-errors.ts'],
          include: filesWithEntry,
          exclude: excludedFiles,
        },
      },
    ],
  },
});
