/** What all bundles have in common: ES modules, and a report of what is in them. */
import type { BuildOptions } from 'esbuild';
import { projectRoot } from '../launch/environment.ts';

export const bundleOptions = {
  absWorkingDir: projectRoot,
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
  metafile: true,
} as const satisfies BuildOptions;

/** For code that runs in Workers and elsewhere, with the modules of Node that it imports. */
export const workerOptions = {
  ...bundleOptions,
  target: 'es2024',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  external: ['node:*', 'cloudflare:*'],
  // `.mjs`, which wrangler, workerd and Node take for ES modules without a rule.
  outExtension: { '.js': '.mjs' },
} satisfies BuildOptions;
