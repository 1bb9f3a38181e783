/** Stories over real HTTP against the built bundle, started as a user starts it. They mostly wait, so four files run side by side. */
import { defineConfig } from 'vitest/config';
import { excludedFiles } from './selection.ts';
import { repeatInCi, waitMs } from './busy-machine.ts';

export default defineConfig({
  test: {
    name: 'e2e',
    root: `${import.meta.dirname}/..`,
    include: ['test/**/*.e2e.test.ts'],
    exclude: ['test/console/**', ...excludedFiles],
    globalSetup: ['test/e2e/global-setup.ts'],
    environment: 'node',
    retry: repeatInCi,
    // Modules are loaded once for each worker instead of once for each file.
    isolate: false,
    maxWorkers: 4,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: waitMs } },
  },
});
