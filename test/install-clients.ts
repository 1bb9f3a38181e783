/**
 * Installs the workspaces, which `npm install` leaves out (`.npmrc`): the programs and libraries of others that only the tests run, about
 * 500 MB, and the development dependencies of the client. `node test/install-clients.ts`; tests, checks and benchmarks call it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');

type Manifest = { version?: string; dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

/** Does nothing if all are there at their versions. Throws if npm fails. */
export function installClients(): void {
  if (['client', 'test/clients'].every(isInstalled)) return;
  console.log('Installing what only tests need, once (test/clients).');
  const { status, error } = spawnSync(
    'npm',
    ['install', '--workspaces', '--include-workspace-root', '--no-fund', '--no-audit', '--loglevel=error'],
    { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], timeout: 900_000 },
  );
  if (status !== 0) throw new Error(`npm could not install the workspaces: ${error?.message ?? `exit code ${status}`}`);
}

function isInstalled(workspace: string): boolean {
  const { dependencies, devDependencies } = read(join(root, workspace, 'package.json'));
  return Object.entries({ ...dependencies, ...devDependencies }).every(([name, wanted]) => {
    const file = [workspace, '.'].map((place) => join(root, place, 'node_modules', name, 'package.json')).find((path) => existsSync(path));
    // `npm:package@version` is a package under another name.
    return file !== undefined && read(file).version === wanted.slice(wanted.lastIndexOf('@') + 1);
  });
}

function read(file: string): Manifest {
  return JSON.parse(readFileSync(file, 'utf8')) as Manifest; // a package.json
}

if (import.meta.main) installClients();
