import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalInConstantTime } from '../../src/core/constant-time.ts';

describe('comparing in constant time', () => {
  it('says what `===` says', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => equalInConstantTime(a, b) === (a === b) && equalInConstantTime(a, a)));
  });

  it('tells texts apart that differ in one place, or only in length', () => {
    expect(equalInConstantTime('v1=a0', 'v1=a1')).toBe(false);
    expect(equalInConstantTime('v1=a', 'v1=aa')).toBe(false);
    expect(equalInConstantTime('', '')).toBe(true);
  });
});
