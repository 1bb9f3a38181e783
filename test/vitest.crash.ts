/** The crash tier: the runtime in a process of its own dies at every named place, in every way. Mostly it waits. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'crash',
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.crash.test.ts'],
    globalSetup: ['test/crash/global-setup.ts'],
    environment: 'node',
    // One lane for each way to die: side by side they wait for the same alarms.
    maxWorkers: 6,
    testTimeout: 90_000,
    hookTimeout: 120_000,
  },
});
