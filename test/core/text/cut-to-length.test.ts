import { expect, it } from 'vitest';
import { cutToLength } from '../../../src/core/text/utf8.ts';

it.each([
  ['short', 5, 'short'],
  ['longer', 5, 'long…'],
  ['abc😀', 5, 'abc😀'],
  ['abc😀d', 5, 'abc…'],
  ['abc😀de', 6, 'abc😀…'],
])('cuts %s to %i characters', (text, most, cut) => {
  expect(cutToLength(text, most)).toBe(cut);
  expect(cutToLength(text, most).length).toBeLessThanOrEqual(most);
});
