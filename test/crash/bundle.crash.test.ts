/** What is deployed has nothing of the crash tests in it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { countEmptyPoints } from './crash-build.ts';
import { scenarios } from './scenarios.ts';

const points = Object.keys(scenarios);

describe('crash points in the bundle', () => {
  const read = (directory: string): string => readFileSync(join(directory, 'worker.js'), 'utf8');

  it('there is one function for them, and it is empty', () => {
    expect(countEmptyPoints(read(inject('crash').plain))).toBe(1);
  });

  it.each(points)('%s stands in the code', (point) => {
    // Not `toContain`: it would print the bundle.
    expect(read(inject('crash').plain).includes(`"${point}"`)).toBe(true);
  });

  it('the deployed bundle has no name of any of them left: the empty function is gone with its arguments', () => {
    const bundle = read(inject('crash').deployed);
    expect(points.filter((point) => bundle.includes(point))).toEqual([]);
    expect(bundle.includes('crashPoint')).toBe(false);
  });
});

describeCorpus('security/crash-points.json', (path) => {
  it('every point of the matrix has its scenario', () => {
    const { points: wanted } = readJson<{ points: { id: string }[] }>(path);
    const own: ReadonlySet<string> = new Set(points);
    expect(wanted.map(({ id }) => id).filter((id) => !own.has(id))).toEqual([]);
  });
});
