/**
 * The Worker's bundle (the same is deployed), stored in the data folder under the hash of its sources: an unchanged tree starts without a
 * build.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isCheckout, projectRoot } from '../launch/environment.ts';
import { StartFailure } from '../launch/start-failure.ts';
import { guideSources } from './build-guide.ts';
import { mainModule, modulesFolder, pagesFolder, workerConfigFile } from '../launch/worker-config.ts';

/** No telemetry, no update checks, no color codes in captured output. */
const quietWrangler = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

const buildTimeoutMs = 120_000;
/** When a bundle of other sources is deleted. */
const maxUnusedMs = 3_600_000;

/**
 * Returns the bundle's folder. `onBuild` is called before the bundle is built, if a build is necessary. The npm package contains a built
 * one.
 */
export async function ensureBundle(cacheDir: string, onBuild: () => void): Promise<string> {
  if (!isCheckout) return join(projectRoot, 'dist');
  const hash = hashSources();
  const directory = join(cacheDir, hash);
  if ([join(modulesFolder, mainModule), workerConfigFile, pagesFolder].every((file) => existsSync(join(directory, file)))) return directory;
  onBuild();
  mkdirSync(cacheDir, { recursive: true });
  const fresh = join(cacheDir, `${hash}.${process.pid}`);
  await buildBundle(fresh);
  for (const old of readdirSync(cacheDir)) {
    const path = join(cacheDir, old);
    // Another start may be writing or using a newer one.
    if (path !== fresh && Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > maxUnusedMs)
      rmSync(path, { recursive: true, force: true });
  }
  renameSync(fresh, directory);
  return directory;
}

async function buildBundle(directory: string): Promise<void> {
  await Promise.all([
    buildModules(join(directory, modulesFolder)),
    runScript('dump-config.ts', directory),
    // Built again instead of copied from `.wrangler`, where another build may be writing.
    runScript('build-console.ts', join(directory, pagesFolder)),
  ]);
}

/** `readable`: one file with the names of the source. */
export async function buildModules(directory: string, { readable = false } = {}): Promise<void> {
  await runScript('build-worker.ts', directory, ...(readable ? ['--readable'] : []));
}

/** Runs a script of this folder. */
function runScript(script: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
      cwd: projectRoot,
      env: { ...process.env, ...quietWrangler, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: buildTimeoutMs,
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartFailure(`The build failed (src/local/build/${script}):\n\n${Buffer.concat(output).toString('utf8')}`));
    });
  });
}

/**
 * Covers everything that the bundle is made of: the sources, the scripts that generate a part of it, the guide, the settings file, the locked
 * dependencies.
 */
function hashSources(): string {
  const hash = createHash('sha256');
  const sources = ['src', 'client/src']
    .flatMap((folder) => readdirSync(join(projectRoot, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && /\.(?:tsx?|css|html|svg)$/.test(entry.name))
    .map((entry) => relative(projectRoot, join(entry.parentPath, entry.name)))
    .filter((path) => !['local', 'cli'].some((folder) => path.startsWith(join('src', folder))))
    .sort();
  const generators = [
    'build-console.ts',
    'build-guide.ts',
    'build-engine.ts',
    'bundle-options.ts',
    'build-worker.ts',
    'meter-wasm.ts',
    'wasm-binary.ts',
  ].map((file) => join('src/local/build', file));
  for (const path of [...sources, ...generators, ...guideSources(), 'wrangler.toml', 'package-lock.json']) {
    const content = readFileSync(join(projectRoot, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 24);
}
