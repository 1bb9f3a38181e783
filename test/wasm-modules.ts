/** `import wasm from 'package/file.wasm'` is a compiled module in the Workers runtime and in the bundle; for tests in Node this makes it one. */
import type { Plugin } from 'vitest/config';

/** Under a name of its own: what has a path in node_modules is left to Node, which instantiates it. */
const prefix = '\0wasm-module:';

export function wasmModules(): Plugin {
  return {
    name: 'wasm-modules',
    enforce: 'pre',
    resolveId: (specifier) => (specifier.endsWith('.wasm') ? `${prefix}${specifier}.js` : null),
    load(id) {
      if (!id.startsWith(prefix)) return null;
      const path = import.meta.resolve(id.slice(prefix.length, -'.js'.length));
      return `import { readFileSync } from 'node:fs';\nexport default new WebAssembly.Module(readFileSync(new URL(${JSON.stringify(path)})));`;
    },
  };
}
