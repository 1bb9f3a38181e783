import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/core/limits/limits.ts';
import { nearNames } from '../../../src/core/names/suggest.ts';
import { runs } from '../../selection.ts';

const tools = ['search_issues', 'search_code', 'create_issue', 'list_branches', 'bash', 'read_file', 'write_file', 'web_search'];
const near = (name: string, names: readonly string[] = tools): string[] =>
  nearNames(
    name,
    names.map((one) => [one, one]),
  );

describe('nearNames', () => {
  it('puts a typing error first', () => {
    expect(near('serch_issues')[0]).toBe('search_issues');
    expect(near('ReadFiel')[0]).toBe('read_file');
    expect(near('bsh')).toEqual(['bash']);
  });

  it('finds names that contain the words, in any order', () => {
    expect(near('issues_search_github')).toContain('search_issues');
    expect(near('search').toSorted()).toEqual(['search_code', 'search_issues', 'web_search']);
  });

  it('returns nothing for a name that is near no other', () => {
    expect(near('quetzalcoatl')).toEqual([]);
    expect(near('')).toEqual([]);
    expect(near('___')).toEqual([]);
  });

  it('returns a tool once, whichever of its spellings is near', () => {
    expect(
      nearNames('shel', [
        ['shell', 'terminalRun'],
        ['builtin.shell', 'terminalRun'],
        ['shelf', 'library'],
      ]),
    ).toEqual(['library', 'terminalRun']);
  });

  it('counts edits as the Levenshtein distance', () => {
    const word = fc.stringMatching(/^[a-f]{6,9}$/);
    fc.assert(
      fc.property(word, word, (a, b) => {
        const found = near(a, [b]).length === 1;
        const most = Math.floor(Math.max(a.length, b.length) / 3);
        if (plainDistance(a, b) <= most) expect(found).toBe(true);
        else if (!a.includes(b) && !b.includes(a)) expect(found).toBe(false);
      }),
      { numRuns: runs(500) },
    );
  });

  it('limits the suggestions, and handles hostile names', () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `search_${index}`);
    expect(near('search', many)).toHaveLength(limits.maxSuggestions);
    expect(near('a_'.repeat(250), ['a'.repeat(500), '_'.repeat(500)])).toEqual(expect.any(Array));
    expect(near('x'.repeat(100_000))).toEqual([]);
  });
});

function plainDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
