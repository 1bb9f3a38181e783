/** The gateways and libraries that Moniker is compared with, at the versions of `peers/package.json`, and those of `test/clients`. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const peersFolder = join(import.meta.dirname, 'peers');
/** Where the benchmarks and the tests of clients import from. */
const ownPlaces = [join(import.meta.dirname, '../node_modules'), join(import.meta.dirname, '../test/clients/node_modules')];

/** Installs what is missing or has another version, without install scripts. */
export function installPeers(): void {
  const { dependencies } = readPackage(join(peersFolder, 'package.json'));
  const installed = (name: string): string | undefined => {
    const path = join(peersFolder, 'node_modules', name, 'package.json');
    return existsSync(path) ? readPackage(path).version : undefined;
  };
  if (Object.entries(dependencies).every(([name, version]) => installed(name) === version)) return;
  const { status } = spawnSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'], {
    cwd: peersFolder,
    stdio: 'inherit',
    timeout: 600_000,
  });
  if (status !== 0) throw new Error('npm could not install the other gateways');
}

/** `name version` of what the benchmarks import under this name. */
export function versionOf(name: string): string {
  const isPeer = name in readPackage(join(peersFolder, 'package.json')).dependencies;
  const places = isPeer ? [join(peersFolder, 'node_modules')] : ownPlaces;
  const path = places.map((place) => join(place, name, 'package.json')).find((file) => existsSync(file));
  return path === undefined ? name : `${name} ${readPackage(path).version}`;
}

function readPackage(path: string): { version: string; dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(path, 'utf8')) as { version: string; dependencies: Record<string, string> }; // a package.json
}
