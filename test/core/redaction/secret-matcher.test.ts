import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SecretMatcher, SecretSearch } from '../../../src/core/redaction/secret-matcher.ts';
import { runs } from '../../selection.ts';

/** What belongs to a value, by trying each value at each place. */
function expected(text: string, values: readonly string[]): string {
  const inside = new Set<number>();
  for (const value of values)
    for (let at = 0; at + value.length <= text.length; at += 1)
      if (text.startsWith(value, at)) for (let each = at; each < at + value.length; each += 1) inside.add(each);
  return [...text].map((character, at) => (inside.has(at) ? '*' : character)).join('');
}

function found(pieces: readonly string[], values: readonly string[]): string {
  const search = new SecretSearch(new SecretMatcher(values));
  for (const piece of pieces) search.read(piece);
  const text = [...pieces.join('')];
  for (const [start, end] of search.spans) text.fill('*', start, end);
  expect(search.spans.every(([start], index) => start > (search.spans[index - 1]?.[1] ?? -1))).toBe(true);
  return text.join('');
}

describe('the matcher of secret values', () => {
  it('finds all of what trying each value at each place finds, in whatever pieces', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u4e2d'), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 6 }), fc.array(text, { maxLength: 6 }), (pieces, given) => {
        const values = given.filter((value) => value !== '');
        expect(found(pieces, values)).toBe(expected(pieces.join(''), values));
      }),
      { numRuns: runs(3_000) },
    );
  });

  it.each([
    [['abcd', 'bc'], 'xabcx', 'xa**x'],
    [['aab', 'ab', 'b'], 'aaab', 'a***'],
    [['abc', 'cde'], 'abcde', '*****'],
    [['b', 'abcd', 'ab'], 'abc', '**c'],
  ])('finds %j in %s', (values, text, shown) => {
    expect(found([text], values)).toBe(shown);
    expect(found([...text], values)).toBe(shown);
  });

  it('knows how much of a value may have begun', () => {
    const search = new SecretSearch(new SecretMatcher(['secret', 'retry']));
    for (const [piece, open] of [
      ['a', 0],
      ['sec', 3],
      ['ret', 6],
      ['r', 4],
      ['x', 0],
    ] as const) {
      search.read(piece);
      expect(search.open).toBe(open);
    }
  });
});
