/** Bundles the command `moniker` for the npm package: JavaScript for Node, with everything that it imports except workerd. */
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { projectRoot } from '../launch/environment.ts';

/** Writes `main.mjs`, and modules for what the commands load on demand. All are in one folder: `environment.ts` finds the package from it. */
export async function buildCli(directory: string): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: { main: join(projectRoot, 'src/cli/main.ts') },
    outdir: directory,
    ...bundleOptions,
    platform: 'node',
    target: 'node22.18',
    // Stack traces stay readable.
    minify: false,
    minifySyntax: true,
    minifyWhitespace: true,
    external: ['workerd'],
    outExtension: { '.js': '.mjs' },
    // CommonJS packages call `require` for modules of Node.
    banner: { js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);" },
  });
  return metafile;
}
