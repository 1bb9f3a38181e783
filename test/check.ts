/** `npm run check`: types, lint and format, unused code. Every check runs, even after one has failed. */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { installClients } from './install-clients.ts';

const root = resolve(import.meta.dirname, '..');

type Check = { name: string; command: string; args: string[] };

const checks: Check[] = [
  ...(bindingTypesAreStale() ? [{ name: 'binding types', command: 'npm', args: ['run', '--silent', 'types'] }] : []),
  { name: 'types of the worker', command: 'tsc', args: ['--noEmit', '-p', 'tsconfig.json'] },
  { name: 'types of the pages', command: 'tsc', args: ['--noEmit', '-p', 'src/console/tsconfig.json'] },
  { name: 'types of the client', command: 'tsc', args: ['-p', 'client/tsconfig.json'] },
  { name: 'types of Node code', command: 'tsc', args: ['--noEmit', '-p', 'test/tsconfig.json'] },
  { name: 'lint and format', command: 'biome', args: ['check', '--error-on-warnings', '.'] },
  { name: 'unused code', command: 'knip', args: ['--config', 'test/knip.json'] },
];

installClients();
const failed = checks.filter((check) => !run(check)).map((check) => check.name);
console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

function run({ name, command, args }: Check): boolean {
  const started = Date.now();
  const path = `${join(root, 'node_modules/.bin')}${delimiter}${process.env.PATH}`;
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: root, encoding: 'utf8', env: { ...process.env, PATH: path } });
  if (error) throw error;
  const passed = status === 0;
  console.log(`${passed ? 'ok    ' : 'FAILED'}  ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  if (!passed) console.log(`${stdout}${stderr}`);
  return passed;
}

/** Whether the types generated from wrangler.toml (without the variables of a `.dev.vars` file) are missing or old. They are not in the repository. */
function bindingTypesAreStale(): boolean {
  const generated = join(root, '.wrangler/types/worker.d.ts');
  const sources = ['wrangler.toml', 'package.json', 'package-lock.json'].map((file) => statSync(join(root, file)).mtimeMs);
  return !existsSync(generated) || statSync(generated).mtimeMs < Math.max(...sources);
}
