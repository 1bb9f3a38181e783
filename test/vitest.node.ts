/** Pure tests, in Node: everything that needs neither the Workers runtime nor a running service. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'node',
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.workers.test.ts', 'test/**/*.e2e.test.ts', 'test/**/*.crash.test.ts'],
    environment: 'node',
    // Two workers: on a small shared machine more of them only take turns.
    maxWorkers: 2,
    testTimeout: 30_000,
  },
});
