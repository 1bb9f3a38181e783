import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedWords, lineDiff, withContext } from '../../src/console/text/line-diff.ts';

const join = (texts: readonly string[]) => texts.join('\n');

describe('line differences', () => {
  it('names removed and added lines between the common ones', () => {
    expect(lineDiff('a\nb\nc', 'a\nx\nc\nd')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'removed', text: 'b' },
      { kind: 'added', text: 'x' },
      { kind: 'same', text: 'c' },
      { kind: 'added', text: 'd' },
    ]);
  });

  it('contain both texts, whatever these are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '', '{'), { maxLength: 12 }).map(join);
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = lineDiff(before, after);
        const without = (kind: string) => join(lines.filter((line) => line.kind !== kind).map((line) => line.text));
        expect([without('added'), without('removed')]).toEqual([before, after]);
      }),
    );
  });

  it('are replacements as a whole for texts that are too long to compare', () => {
    const long = (prefix: string) => join(Array.from({ length: 2_100 }, (_, index) => `${prefix}${index}`));
    const lines = lineDiff(long('a'), long('b'));
    expect([lines.length, lines[0]?.kind, lines.at(-1)?.kind]).toEqual([4_200, 'removed', 'added']);
  });

  it('leave out unchanged lines that are far from a change', () => {
    const before = join(Array.from({ length: 20 }, (_, index) => `${index}`));
    const parts = withContext(lineDiff(before, before.replace('10', 'ten')));
    expect(parts.map((part) => (part.kind === 'skipped' ? part.count : part.text))).toEqual([
      7,
      '7',
      '8',
      '9',
      '10',
      'ten',
      '11',
      '12',
      '13',
      6,
    ]);
    expect(withContext(lineDiff('a', 'a'))).toEqual([{ kind: 'skipped', count: 1 }]);
  });

  it('marks the words that differ between two lines', () => {
    expect(changedWords('The forecast of a city.', 'The forecast of a city and more.')).toEqual([
      { start: 'The forecast of a ', changed: 'city.', end: '' },
      { start: 'The forecast of a ', changed: 'city and more.', end: '' },
    ]);
    expect(changedWords('a b c', 'a b c')).toBeNull();
    expect(changedWords('one', 'two')).toEqual(null);
  });

  it('marks words without losing a character', () => {
    const line = fc.array(fc.constantFrom('a', 'bc', ' ', '\u200b', '😀', ' '), { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(line, line, (before, after) => {
        const [one, other] = changedWords(before, after) ?? [];
        if (one === undefined || other === undefined) return;
        expect(one.start + one.changed + one.end).toBe(before);
        expect(other.start + other.changed + other.end).toBe(after);
      }),
    );
  });
});
