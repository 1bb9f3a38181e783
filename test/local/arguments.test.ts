import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseArguments, usage } from '../../src/local/environment.ts';
import { readEnvironment, workerSettings } from '../../src/local/environment.ts';

const start = join(import.meta.dirname, '../../src/local/start.ts');

it('prints the usage for --help and starts nothing', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [start, '--help'], { encoding: 'utf8', timeout: 60_000 });
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${usage}\n`, stderr: '' });
});

it('names an unknown option and where the options are listed', () => {
  expect(() => parseArguments(['--port=80'])).toThrow('Unknown option "--port=80". `npm start -- --help` lists the options.');
  const { status, stdout, stderr } = spawnSync(process.execPath, [start, '--port=80'], { encoding: 'utf8', timeout: 60_000 });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('Unknown option "--port=80"');
});

it('accepts --reload, which npm run dev passes', () => {
  expect(parseArguments(['--reload'])).toEqual({ help: false, reload: true });
});

it('lists every variable that the service reads, and no other', () => {
  for (const name of workerSettings) expect(usage).toContain(name);
  const listed = usage.match(/\bMONIKER_[A-Z_]+/g) ?? [];
  expect(readEnvironment(Object.fromEntries(listed.map((name) => [name, 'x']))).unknown).toEqual([]);
});
