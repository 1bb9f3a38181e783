/**
 * `node build-edge.ts <folder>`: bundles the edge handler (`src/edge.ts`) as ES modules for Deno, Bun and Node, with `edge.mjs` as their
 * entry. Unlike the Worker's modules they contain the WebAssembly of the sandbox, which these runtimes do not import from files alike.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { build, type Metafile, type PluginBuild } from 'esbuild';
import { buildEngine } from './build-engine.ts';
import { workerOptions } from './bundle-options.ts';
import { projectRoot } from '../launch/environment.ts';
import { runLocalScript, StartFailure } from '../launch/start-failure.ts';

export const edgeModule = 'edge.mjs';

/** Modules of Node that Deno and Bun have, too. */
const allowedImports: ReadonlySet<string> = new Set(['node:async_hooks', 'node:crypto', 'node:zlib']);

if (import.meta.main) {
  const [directory] = process.argv.slice(2);
  if (directory === undefined) throw new Error('Name the folder to write to.');
  await runLocalScript(async () => void (await buildEdge(directory)));
}

/** Throws if a module that only one runtime has would be imported. */
export async function buildEdge(directory: string): Promise<Metafile> {
  buildEngine();
  const { metafile } = await build({
    entryPoints: { edge: join(projectRoot, 'src/edge.ts') },
    outdir: directory,
    ...workerOptions,
    conditions: ['worker', 'browser'],
    plugins: [{ name: 'edge-modules', setup: edgeModules }],
  });
  const foreign = foreignImports(metafile);
  if (foreign.length > 0)
    throw new StartFailure(`The edge handler would import modules that other runtimes do not have:\n${foreign.join('\n')}`);
  copyFileSync(join(import.meta.dirname, 'edge.d.mts'), join(directory, 'edge.d.mts'));
  return metafile;
}

function edgeModules({ onLoad }: PluginBuild): void {
  // It is made for Workers, and an edge handler does not use it (`src/edge/unsupported.ts`).
  onLoad({ filter: /[\\/]workers-oauth-provider[\\/]/ }, () => ({ contents: 'module.exports = {};' }));
  onLoad({ filter: /\.wasm$/ }, ({ path }) => {
    // Compressed, since the package's own compression would find little in base64 text.
    const text = JSON.stringify(brotliCompressSync(readFileSync(path)).toString('base64'));
    const bytes = `brotliDecompressSync(Uint8Array.from(atob(${text}), (character) => character.charCodeAt(0)))`;
    return { contents: `import { brotliDecompressSync } from 'node:zlib';\nexport default new WebAssembly.Module(${bytes});` };
  });
}

/** `<module> (<file>)` for each. */
function foreignImports({ inputs }: Metafile): string[] {
  return Object.entries(inputs).flatMap(([file, { imports }]) =>
    imports.flatMap(({ path, external }) => (external === true && !allowedImports.has(path) ? [`${path} (${file})`] : [])),
  );
}
