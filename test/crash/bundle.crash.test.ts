/** The deployed bundle contains nothing of the crash tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { describeCorpus, readJson } from '../fixtures.ts';
import { modulesFolder } from '../../src/local/launch/worker-config.ts';
import { countEmptyPoints } from './crash-build.ts';
import { scenarios } from './scenarios.ts';

const points = Object.keys(scenarios);

describe('crash points in the bundle', () => {
  const read = (directory: string): string =>
    readdirSync(directory)
      .filter((file) => file.endsWith('.mjs'))
      .map((file) => readFileSync(join(directory, file), 'utf8'))
      .join('\n');

  it('has one empty function for all crash points', () => {
    expect(countEmptyPoints(read(inject('crash').plain))).toBe(1);
  });

  it.each(points)('%s is in the code', (point) => {
    // Not `toContain`: it would print the bundle.
    expect(read(inject('crash').plain).includes(`"${point}"`)).toBe(true);
  });

  it('the deployed bundle has no name of a crash point: the empty function is removed with its arguments', () => {
    const bundle = read(join(inject('crash').deployed, modulesFolder));
    expect(points.filter((point) => bundle.includes(point))).toEqual([]);
    expect(bundle.includes('failpoint')).toBe(false);
  });
});

describeCorpus('security/crash-points.json', (path) => {
  it('every point of the matrix has a scenario', () => {
    const { points: wanted } = readJson<{ points: { id: string }[] }>(path);
    const own: ReadonlySet<string> = new Set(points);
    expect(wanted.map(({ id }) => id).filter((id) => !own.has(id))).toEqual([]);
  });
});
