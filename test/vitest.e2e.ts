/** Stories over the built bundle, started as a user starts it, over real HTTP. Slow: they mostly wait, two files side by side. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    name: 'e2e',
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.e2e.test.ts'],
    globalSetup: ['test/e2e/global-setup.ts'],
    environment: 'node',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
