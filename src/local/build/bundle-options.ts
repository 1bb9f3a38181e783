/** What all bundles have in common: ES modules, and a report of what is in them. */
import type { BuildOptions, Plugin } from 'esbuild';
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

/** Leaves out of zod what nothing here uses, and its one module would bring along: error messages in 63 languages, and schemas made of JSON Schema. */
export const usedZod: Plugin = {
  name: 'used-zod',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents: "export { default as en } from './en.js';" }));
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]classic[\\/]from-json-schema\.js$/ }, () => ({
      contents:
        "export function fromJSONSchema() { throw new Error('z.fromJSONSchema is not part of this build: see usedZod in src/local/build/bundle-options.ts'); }",
    }));
  },
};
