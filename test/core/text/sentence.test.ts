import { expect, it } from 'vitest';
import { Problem } from '../../../src/core/problem.ts';
import { withSingleStops } from '../../../src/core/text/sentence.ts';

it.each([
  ['The file cannot be read: it is closed..', 'The file cannot be read: it is closed.'],
  ['It said "no".. Try again.', 'It said "no". Try again.'],
  ['Open ../.. or wait...', 'Open ../.. or wait...'],
  ['See /a/.. first.', 'See /a/.. first.'],
])('Two full stops at the end of a sentence become one: %s', (text, expected) => {
  expect(withSingleStops(text)).toBe(expected);
  expect(new Problem('internal', text).toBody().detail).toBe(expected);
});
