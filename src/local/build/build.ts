/**
 * `npm run build`: writes `dist/`, which `npm run deploy` uploads and the npm package contains: the bundle, the command `moniker`, and the
 * licenses of the libraries in them. Prints the size of the Worker as Cloudflare counts it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { experimental_readRawConfig as readRawConfig } from 'wrangler';
import { buildCli } from './build-cli.ts';
import { buildConsole } from './build-console.ts';
import { buildEdge } from './build-edge.ts';
import { buildWorker } from './build-worker.ts';
import { dumpConfig } from './dump-config.ts';
import { projectRoot } from '../launch/environment.ts';
import { runLocalScript, StartFailure } from '../launch/start-failure.ts';
import { mainModule, modulesFolder, pagesFolder } from '../launch/worker-config.ts';

/** The maximum compressed size of a Worker on the free plan. */
const maxGzipBytes = 3 * 1024 * 1024;

await runLocalScript(async () => {
  const dist = join(projectRoot, 'dist');
  const modules = join(dist, modulesFolder);
  rmSync(dist, { recursive: true, force: true });
  const builds = await Promise.all([
    buildWorker(modules),
    buildConsole(join(dist, pagesFolder)),
    buildCli(join(dist, 'cli')),
    buildEdge(join(dist, 'edge')),
  ]);
  dumpConfig(dist);
  writeFileSync(join(dist, 'wrangler.json'), JSON.stringify(builtConfig()));
  writeFileSync(join(dist, 'LICENSES.txt'), licensesOf(builds));
  const contents = readdirSync(modules).map((file) => readFileSync(join(modules, file)));
  const gzipBytes = contents.reduce((sum, content) => sum + gzipSync(content).length, 0);
  const rawBytes = contents.reduce((sum, content) => sum + content.length, 0);
  console.log(`dist/${modulesFolder}: ${kilobytes(rawBytes)} KiB, ${kilobytes(gzipBytes)} KiB gzip (at most ${kilobytes(maxGzipBytes)})`);
  if (gzipBytes > maxGzipBytes) throw new StartFailure('The Worker is too large for the free plan.');
});

/** wrangler.toml for the built modules: wrangler itself would bundle them into one file again. */
function builtConfig(): object {
  const { build, ...config } = readRawConfig({ config: join(projectRoot, 'wrangler.toml') }).rawConfig;
  return {
    ...config,
    main: `${modulesFolder}/${mainModule}`,
    base_dir: modulesFolder,
    no_bundle: true,
    rules: [{ type: 'ESModule', globs: ['**/*.mjs'] }],
    assets: { ...config.assets, directory: pagesFolder },
  };
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(0);
}

type Manifest = { name: string; version: string; license?: string; author?: string | { name?: string } };

/** The licenses of the packages that a build contains, as one text. */
function licensesOf(builds: readonly Metafile[]): string {
  const inputs = builds.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = new Set(inputs.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  const texts = [...folders].sort().map((folder) => licenseOf(join(projectRoot, folder)));
  return `Moniker contains code of these packages.\n\n${texts.join('\n')}`;
}

function licenseOf(folder: string): string {
  const { name, version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const file = existsSync(folder) ? readdirSync(folder).find((entry) => /^licen[cs]e(?:\.|$)/i.test(entry)) : undefined;
  const by = typeof author === 'string' ? author : author?.name;
  const text = file === undefined ? [license, by].filter(Boolean).join(', by ') : readFileSync(join(folder, file), 'utf8').trim();
  return `${'-'.repeat(80)}\n${name} ${version} (${license ?? 'see below'})\n\n${text}\n`;
}
