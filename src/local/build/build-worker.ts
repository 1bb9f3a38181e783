/**
 * `node build-worker.ts <folder>`: bundles the Worker as ES modules. What is imported dynamically becomes modules of its own, which workerd
 * loads when they are first used; in one file, as wrangler bundles, all of it would be compiled at every start.
 *
 * `--readable`: one file with the names of the source, of which the crash tests replace a function.
 */
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { buildEngine } from './build-engine.ts';
import { workerOptions } from './bundle-options.ts';
import { projectRoot } from '../launch/environment.ts';
import { runLocalScript, StartFailure } from '../launch/start-failure.ts';
import { mainModule } from '../launch/worker-config.ts';

/** What a start loads, in bytes of minified code. It decides how long a cold start takes, so a new library in it should be noticed. */
const maxEagerBytes = 1_625_000;

if (import.meta.main) {
  const [directory, option] = process.argv.slice(2);
  if (directory === undefined) throw new Error('Name the folder to write to.');
  await runLocalScript(async () => void (await buildWorker(directory, { readable: option === '--readable' })));
}

export async function buildWorker(directory: string, { readable = false } = {}): Promise<Metafile> {
  buildEngine();
  const { metafile } = await build({
    entryPoints: { worker: join(projectRoot, 'src/worker.ts') },
    outdir: directory,
    ...workerOptions,
    ...(readable && { splitting: false, minify: false, keepNames: true }),
    conditions: ['workerd', 'worker', 'browser'],
    loader: { '.wasm': 'copy' },
    assetNames: '[name]',
  });
  const bytes = eagerBytes(metafile);
  if (!readable && bytes > maxEagerBytes)
    throw new StartFailure(
      `A start would load ${bytes} bytes of code, more than ${maxEagerBytes}: import dynamically what is rarely used.`,
    );
  return metafile;
}

function eagerBytes({ outputs }: Metafile): number {
  const entry = Object.keys(outputs).find((file) => file.endsWith(mainModule));
  const found = new Set(entry === undefined ? [] : [entry]);
  for (const file of found) {
    for (const { path, kind } of outputs[file]?.imports ?? []) if (kind === 'import-statement' && path in outputs) found.add(path);
  }
  return [...found].reduce((sum, file) => sum + (outputs[file]?.bytes ?? 0), 0);
}
