/** The modules that the Worker loads late, which the Workers tests load before anything asks for them (`empty-storage.ts`). */
import { globSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

declare module 'vitest' {
  interface ProvidedContext {
    lateModules: string[];
  }
}

const root = resolve(import.meta.dirname, '..');
/** Programs and pages, which do not run in the Worker. */
const others = /^src\/(?:cli|console|edge|local)\//;

/** Returns the paths of the files that `src` imports in an expression. */
export function lateModules(): string[] {
  const files = globSync('src/**/*.ts', { cwd: root }).filter((file) => !others.test(file));
  const found = files.flatMap((file) => {
    const text = readFileSync(resolve(root, file), 'utf8');
    return [...text.matchAll(/(?<!typeof )\bimport\('(\.[^']+)'\)(?!\.)/g)].map(([, path = '']) => resolve(root, dirname(file), path));
  });
  return [...new Set(found)].sort();
}
