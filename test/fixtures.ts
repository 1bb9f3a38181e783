/**
 * Where the recorded corpus is found. It lies beside the checkout (`../shared/fixtures`) and is not part of the
 * repository: tests over it skip, saying so, where it is absent. The repository's own fixtures are in `test/fixtures/`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'vitest';

const corpusRoot = resolve(import.meta.dirname, '../../shared/fixtures');

/** Absolute path of `../shared/fixtures/<path>`, or null when the corpus (or that part of it) is not there. */
export function sharedFixtures(path: string): string | null {
  const absolute = resolve(corpusRoot, path);
  return existsSync(absolute) ? absolute : null;
}

/** Parses one JSON file. The caller names the type; nothing is checked. */
export function readJson<T = unknown>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** Parses a file of one JSON value a line; empty lines are passed over. A bad line is named by its number. */
export function readJsonLines<T = unknown>(path: string): T[] {
  const rows: T[] = [];
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    if (line.trim() === '') continue;
    try {
      rows.push(JSON.parse(line) as T);
    } catch (error) {
      throw new Error(`${path}:${index + 1} is not JSON`, { cause: error });
    }
  }
  return rows;
}

/**
 * A `describe` over one part of the corpus: `body` gets its absolute path while tests are collected. Without the corpus
 * the suite stands as one skipped test whose name says why.
 */
export function describeCorpus(name: string, body: (path: string) => void): void {
  const path = sharedFixtures(name);
  if (path !== null) {
    describe(`corpus ${name}`, () => body(path));
    return;
  }
  describe.skip(`corpus ${name}`, () => {
    it('is not beside this checkout (../shared/fixtures)', () => {});
  });
}
