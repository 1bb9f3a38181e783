import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatedMembers } from '../../../src/core/json/repeated-members.ts';

it.each([
  ['{"a": 1, "b": {"a": 2}}', []],
  ['{"a": 1, "a": 2}', ['a']],
  ['{"s": {"x": {"u": 1, "v": [{"u": 1}, {"u": "\\"u\\": 1", "u": 2}], "u": 3}}}', ['s.x.v[1].u', 's.x.u']],
  ['{"a\\u0062": 1, "ab": 2}', ['ab']],
  ['{"__proto__": 1, "constructor": 2, "__proto__": 3}', ['__proto__']],
  ['["a", "a", {"a": ["a"]}]', []],
  ['"text"', []],
  ['{"a": 1 "a": 2, "b\nc": 1, "b\nc": 2', ['a', '"b\nc"']],
])('finds the members that an object of %s has twice', (text, paths) => {
  expect(repeatedMembers(text, 20)).toEqual(paths);
});

it('are looked for no deeper than asked', () => {
  expect(repeatedMembers('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', 20, 1)).toEqual(['a']);
});

it('finds none in what a serializer wrote, and stops at the bound', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(repeatedMembers(JSON.stringify(value), 20)).toEqual([]);
    }),
  );
  expect(repeatedMembers(`{${Array.from({ length: 100 }, () => '"a": 1').join()}}`, 20)).toHaveLength(20);
});
