/**
 * The Worker's bundle (the same is deployed), stored in the data folder under the hash of its sources: an unchanged tree starts without a
 * build.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectRoot } from './environment.ts';
import { StartFailure } from './start-failure.ts';
import { type Bundle, pagesFolder, workerConfigFile } from './worker-config.ts';

/** No telemetry, no update checks, no color codes in captured output. */
const quietWrangler = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

const mainModule = 'worker.mjs';
const buildTimeoutMs = 120_000;

/** `onBuild` is called before the bundle is built, if a build is necessary. */
export async function ensureBundle(cacheDir: string, onBuild: () => void): Promise<Bundle> {
  const hash = hashSources();
  const directory = join(cacheDir, hash);
  if ([mainModule, workerConfigFile, pagesFolder].every((file) => existsSync(join(directory, file)))) return { directory, mainModule };
  onBuild();
  mkdirSync(cacheDir, { recursive: true });
  const fresh = join(cacheDir, `${hash}.${process.pid}`);
  await Promise.all([
    buildBundle(fresh),
    runScript('dump-config.ts', `${fresh}.config`),
    // Built again instead of copied from `.wrangler`, where another build may be writing.
    runScript('build-console.ts', `${fresh}.pages`),
  ]);
  renameSync(join(`${fresh}.config`, workerConfigFile), join(fresh, workerConfigFile));
  renameSync(`${fresh}.pages`, join(fresh, pagesFolder));
  for (const old of readdirSync(cacheDir)) {
    if (old !== `${hash}.${process.pid}`) rmSync(join(cacheDir, old), { recursive: true, force: true });
  }
  renameSync(fresh, directory);
  return { directory, mainModule };
}

/** `readable`: one file with the names of the source. */
export async function buildBundle(directory: string, { readable = false } = {}): Promise<Bundle> {
  await runScript('build-worker.ts', directory, ...(readable ? ['--readable'] : []));
  return { directory, mainModule };
}

/** Runs a script of this folder. */
function runScript(script: string, ...args: string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(projectRoot, 'src/local', script), ...args], {
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
      else reject(new StartFailure(`The build failed (src/local/${script}):\n\n${Buffer.concat(output).toString('utf8')}`));
    });
  });
}

/**
 * Covers everything that the bundle is made of: the sources, the scripts that generate a part of it, the settings file, the locked
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
  const generators = ['build-console.ts', 'build-engine.ts', 'build-worker.ts', 'meter-wasm.ts', 'wasm-binary.ts'].map((file) =>
    join('src/local', file),
  );
  for (const path of [...sources, ...generators, 'wrangler.toml', 'package-lock.json']) {
    const content = readFileSync(join(projectRoot, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 24);
}
