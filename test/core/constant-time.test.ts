import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalInConstantTime } from '../../src/core/constant-time.ts';

describe('equalInConstantTime', () => {
  it('agrees with `===`', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => equalInConstantTime(a, b) === (a === b) && equalInConstantTime(a, a)));
  });

  it('detects a difference in one character, or only in length', () => {
    expect(equalInConstantTime('v1=a0', 'v1=a1')).toBe(false);
    expect(equalInConstantTime('v1=a', 'v1=aa')).toBe(false);
    expect(equalInConstantTime('', '')).toBe(true);
  });
});
