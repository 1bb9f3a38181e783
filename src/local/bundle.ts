/**
 * The Worker's bundle, built by wrangler (which also deploys it, so the same code runs here and there) and stored in the data folder under
 * the hash of its sources: an unchanged tree starts without a build.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join, relative } from 'node:path';
import { projectRoot } from './environment.ts';
import { StartFailure } from './start-failure.ts';
import { workerConfigFile } from './worker-config.ts';

/** A folder with the entry module, its `.wasm` files, and the built pages in `pagesFolder`. */
export type Bundle = { directory: string; mainModule: string };

/** No telemetry, no update checks, no color codes in captured output. */
const quietWrangler = {
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

export const pagesFolder = 'pages';
const mainModule = 'worker.js';
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
    runNode([join(projectRoot, 'src/local/dump-config.ts'), `${fresh}.config`]),
    // Built again instead of copied from `.wrangler`, where another build may be writing.
    runNode([join(projectRoot, 'src/local/build-console.ts'), `${fresh}.pages`]),
  ]);
  renameSync(join(`${fresh}.config`, workerConfigFile), join(fresh, workerConfigFile));
  renameSync(`${fresh}.pages`, join(fresh, pagesFolder));
  for (const old of readdirSync(cacheDir)) {
    if (old !== `${hash}.${process.pid}`) rmSync(join(cacheDir, old), { recursive: true, force: true });
  }
  renameSync(fresh, directory);
  return { directory, mainModule };
}

/** Without minification, names and functions stay readable: the crash tests replace one of them. */
export async function buildBundle(directory: string, { minify = true } = {}): Promise<Bundle> {
  await runNode([wranglerScript, 'deploy', '--dry-run', '--outdir', directory, ...(minify ? ['--minify'] : [])]);
  return { directory, mainModule };
}

/** The wrangler script, run with this Node (its own launcher would use the one on the path). */
const wranglerScript = join(projectRoot, 'node_modules/wrangler/bin/wrangler.js');

function runNode(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: projectRoot,
      // The `[build]` command of wrangler.toml runs with the same Node.
      env: { ...process.env, ...quietWrangler, NO_COLOR: '1', PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}` },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: buildTimeoutMs,
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new StartFailure(`The build failed (node ${args.join(' ')}):\n\n${Buffer.concat(output).toString('utf8')}`));
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
    .filter((path) => !path.startsWith(join('src', 'local')))
    .sort();
  const generators = ['build-console.ts', 'build-engine.ts', 'meter-wasm.ts', 'wasm-binary.ts'].map((file) => join('src/local', file));
  for (const path of [...sources, ...generators, 'wrangler.toml', 'package-lock.json']) {
    const content = readFileSync(join(projectRoot, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 24);
}
