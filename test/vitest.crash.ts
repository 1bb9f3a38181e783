/** The crash tests: the runtime, in a separate process, crashes at every failpoint, in every way. They mostly wait. */
import { defineConfig } from 'vitest/config';
import { repeatInCi } from './busy-machine.ts';

export default defineConfig({
  test: {
    name: 'crash',
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.crash.test.ts'],
    globalSetup: ['test/crash/global-setup.ts'],
    environment: 'node',
    retry: repeatInCi,
    // One file for each way to crash; side by side, they wait for their alarms at the same time.
    maxWorkers: 6,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
