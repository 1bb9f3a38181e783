/** The console and `/docs` in a browser, against the built bundle. A browser keeps a core busy, so there are fewer files side by side. */
import { defineConfig } from 'vitest/config';
import { excludedFiles } from './selection.ts';
import { repeatInCi, waitMs } from './busy-machine.ts';

export default defineConfig({
  test: {
    name: 'console',
    root: `${import.meta.dirname}/..`,
    include: ['test/console/**/*.e2e.test.ts'],
    exclude: excludedFiles,
    globalSetup: ['test/e2e/global-setup.ts'],
    environment: 'node',
    maxWorkers: 2,
    retry: repeatInCi,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: waitMs } },
  },
});
