import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { environmentHelp, readEnvironment, workerSettings } from '../../src/local/launch/environment.ts';

const main = join(import.meta.dirname, '../../src/cli/main.ts');

function moniker(...parameters: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...parameters], { encoding: 'utf8', timeout: 60_000 });
  return { status, stdout, stderr };
}

it('prints the options and settings for --help and starts nothing', () => {
  const { status, stdout, stderr } = moniker('start', '--help');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('Usage: moniker start [options]');
  expect(stdout).toContain('moniker start --port 8080');
  expect(stdout).toContain(environmentHelp);
});

it('names an unknown option and where the options are listed', () => {
  const { status, stdout, stderr } = moniker('start', '--prot=80');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toBe("error: unknown option '--prot=80'\nRun the command with --help for its options and an example.\n");
});

it('refuses a port that is no number as wrong usage', () => {
  expect(moniker('start', '--port', 'x')).toEqual({
    status: 2,
    stdout: '',
    stderr:
      "error: option '--port <port>' argument 'x' is invalid. Use a number from 0 (any free port) to 65535.\nRun the command with --help for its options and an example.\n",
  });
});

it('lists every variable that the service reads, and no other', () => {
  for (const name of workerSettings) expect(environmentHelp).toContain(name);
  const listed = environmentHelp.match(/\bMONIKER_[A-Z_]+/g) ?? [];
  expect(readEnvironment(Object.fromEntries(listed.map((name) => [name, '::1']))).unknown).toEqual([]);
});
