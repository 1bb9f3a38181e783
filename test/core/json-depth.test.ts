import { expect, it } from 'vitest';
import { isDeeperThan } from '../../src/core/json-depth.ts';

it('counts arrays and objects, not scalars', () => {
  expect(isDeeperThan('text', 0)).toBe(false);
  expect(isDeeperThan({}, 0)).toBe(true);
  expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
  expect(isDeeperThan({ a: [[]] }, 2)).toBe(true);
});

it('is safe on values that would overflow a walk', () => {
  expect(isDeeperThan(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)), 64)).toBe(true);
});
