/**
 * Finds the recorded corpus beside the checkout (`../shared/fixtures`). It is not part of the repository: where it is missing, its tests
 * are skipped and report it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, it } from 'vitest';
import { isSkipped } from './selection.ts';

/** Why a suite over the corpus is skipped. */
export const absentCorpus = '../shared/fixtures is not beside this checkout';

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

/** Parses a file with one JSON value a line; empty lines are skipped. Errors name the line of an invalid value. */
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
 * A `describe` over one part of the corpus: `body` receives its absolute path while tests are collected. Without the corpus, the
 * suite is one skipped test whose name says why, and one line is printed.
 */
export function describeCorpus(name: string, body: (path: string) => void): void {
  const path = sharedFixtures(name);
  if (path !== null) {
    describe(`corpus ${name}`, () => body(path));
    return;
  }
  describe.skipIf(isSkipped(true, `corpus ${name}`, absentCorpus))(`corpus ${name}`, () => {
    it('is not beside this checkout (../shared/fixtures)', () => {});
  });
}
