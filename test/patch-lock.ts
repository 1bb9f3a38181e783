/**
 * Run `node test/patch-lock.ts` after a change of dependencies, then commit the lock file. Some registries lack the packages of
 * other platforms; npm then leaves these optional packages out of the lock file, and `npm ci` rejects the file elsewhere. This
 * script adds an entry for each, as npm would write it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Package = {
  version?: string;
  optionalDependencies?: Record<string, string>;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
};

const file = join(import.meta.dirname, '../package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Package> };

const systems = new Map([
  ['android', 'android'],
  ['darwin', 'darwin'],
  ['linux', 'linux'],
  ['win32', 'win32'],
  ['windows', 'win32'],
  ['freebsd', 'freebsd'],
  ['openharmony', 'openharmony'],
  ['wasm32', null],
]);
const processors = ['arm64', 'arm', 'ppc64', 's390x', 'riscv64', 'loong64', 'ia32', 'wasm32'];

let added = 0;
for (const [path, { dev, optionalDependencies }] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    const system = [...systems.keys()].find((word) => name.includes(word));
    const exact = /^\d/.test(version);
    if (system === undefined || !exact || isLocked(path, name, version)) continue;
    const os = systems.get(system);
    lock.packages[`${path.slice(0, path.lastIndexOf('node_modules/'))}node_modules/${name}`] = {
      version,
      cpu: [processors.find((word) => name.includes(word)) ?? 'x64'],
      ...(dev && { dev: true }),
      ...(name.includes('musl') && { libc: ['musl'] }),
      optional: true,
      ...(os && { os: [os] }),
    };
    added++;
  }
}
// npm's own order: in any other, the next `npm install` would rewrite the file.
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} entries added to package-lock.json`);

/** Whether the lock file has this version where Node resolves it: in the package's own node_modules, or in a folder above. */
function isLocked(path: string, name: string, version: string): boolean {
  for (let at = path; ; ) {
    const found = lock.packages[`${at ? `${at}/` : ''}node_modules/${name}`];
    if (found) return found.version === version;
    if (at === '') return false;
    const up = at.lastIndexOf('/node_modules/');
    at = up < 0 ? '' : at.slice(0, up);
  }
}
