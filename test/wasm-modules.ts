/** `import wasm from './file.wasm'` is a compiled module in the Workers runtime and in the bundle; for tests in Node this plugin compiles it. */
import { resolve } from 'node:path';
import type { Plugin } from 'vitest/config';

/** A virtual id: Node would load the path itself and instantiate the module. */
const prefix = '\0wasm-module:';

export function wasmModules(): Plugin {
  return {
    name: 'wasm-modules',
    enforce: 'pre',
    resolveId: (specifier, importer = '') => (specifier.endsWith('.wasm') ? `${prefix}${resolve(importer, '..', specifier)}.js` : null),
    load(id) {
      if (!id.startsWith(prefix)) return null;
      const path = id.slice(prefix.length, -'.js'.length);
      return `import { readFileSync } from 'node:fs';\nexport default new WebAssembly.Module(readFileSync(${JSON.stringify(path)}));`;
    },
  };
}
