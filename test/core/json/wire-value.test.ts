import { expect, it } from 'vitest';
import { cutBelow, isDeeperThan } from '../../../src/core/json/wire-value.ts';

it('counts arrays and objects, not scalars', () => {
  expect(isDeeperThan('text', 0)).toBe(false);
  expect(isDeeperThan({}, 0)).toBe(true);
  expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
  expect(isDeeperThan({ a: [[]] }, 2)).toBe(true);
});

it('is safe on values that would overflow a walk', () => {
  expect(isDeeperThan(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)), 64)).toBe(true);
});

it('cuts deeper values and returns others unchanged', () => {
  const value = { a: [{ b: [1] }], c: 2 };
  expect(cutBelow(value, 4)).toBe(value);
  expect(cutBelow(value, 3)).toEqual({ a: [{ b: null }], c: 2 });
  const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
  expect(isDeeperThan(cutBelow(deep, 64), 64)).toBe(false);
});
