/** `npm run build`: writes to `dist/` what `npm run deploy` uploads, and prints the size of the Worker as Cloudflare counts it. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { experimental_readRawConfig as readRawConfig } from 'wrangler';
import { buildConsole } from './build-console.ts';
import { buildBundle } from './bundle.ts';
import { projectRoot } from './environment.ts';
import { runLocalScript, StartFailure } from './start-failure.ts';
import { pagesFolder } from './worker-config.ts';

/** The maximum compressed size of a Worker on the free plan. */
const maxGzipBytes = 3 * 1024 * 1024;

await runLocalScript(async () => {
  const dist = join(projectRoot, 'dist');
  const worker = join(dist, 'worker');
  rmSync(dist, { recursive: true, force: true });
  const { mainModule } = await buildBundle(worker);
  await buildConsole(join(dist, pagesFolder));
  writeFileSync(join(dist, 'wrangler.json'), JSON.stringify(builtConfig(mainModule)));
  const modules = readdirSync(worker).map((file) => readFileSync(join(worker, file)));
  const gzipBytes = modules.reduce((sum, content) => sum + gzipSync(content).length, 0);
  const rawBytes = modules.reduce((sum, content) => sum + content.length, 0);
  console.log(`dist/worker: ${kilobytes(rawBytes)} KiB, ${kilobytes(gzipBytes)} KiB gzip (at most ${kilobytes(maxGzipBytes)})`);
  if (gzipBytes > maxGzipBytes) throw new StartFailure('The Worker is too large for the free plan.');
});

/** wrangler.toml for the built modules: wrangler itself would bundle them into one file again. */
function builtConfig(mainModule: string): object {
  const { build, ...config } = readRawConfig({ config: join(projectRoot, 'wrangler.toml') }).rawConfig;
  return {
    ...config,
    main: `worker/${mainModule}`,
    base_dir: 'worker',
    no_bundle: true,
    rules: [{ type: 'ESModule', globs: ['**/*.mjs'] }],
    assets: { ...config.assets, directory: pagesFolder },
  };
}

function kilobytes(bytes: number): string {
  return (bytes / 1024).toFixed(0);
}
