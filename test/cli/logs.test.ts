import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { lockDataDir } from '../../src/local/launch/data-lock.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'moniker-logs-'));
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

it('moniker logs tells a service that has logged nothing yet from a folder without a service', async () => {
  const logs = () => runCommand(['logs', '--data', folder]);
  expect(String((await logs()).error)).toContain(`There is no log in ${folder}.`);
  const release = lockDataDir(folder);
  const { error, stderr } = await logs();
  release();
  expect([error, stderr]).toEqual([null, `The service in ${folder} has logged nothing since its start.\n`]);
});
