/** The examples of RFC 7396, appendix A, for objects; and names of JavaScript objects. */
import { expect, it } from 'vitest';
import { mergePatch } from '../../../src/core/json/merge-patch.ts';

it.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('%j patched with %j is %j', (target, patch, expected) => {
  const before = JSON.stringify(target);
  expect(mergePatch(target, patch)).toEqual(expected);
  expect(JSON.stringify(target)).toBe(before);
});

it('treats names of JavaScript objects as plain members', () => {
  const patched = mergePatch(
    {},
    JSON.parse('{"constructor":{"prototype":{"polluted":true}},"toString":{"a":1}}') as Record<string, unknown>,
  );
  expect(JSON.stringify(patched)).toBe('{"constructor":{"prototype":{"polluted":true}},"toString":{"a":1}}');
  expect(Object.getPrototypeOf(patched)).toBe(Object.prototype);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
