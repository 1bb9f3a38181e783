import { describe, expect, it, vi } from 'vitest';
import { getOrBuild, memoizeByObject } from '../../src/core/memoize.ts';

describe('a memoized function', () => {
  it('builds once for the same objects, null results included', () => {
    const build = vi.fn((_a: object, _b: object) => null);
    const memoized = memoizeByObject(build);
    const [a, b, c] = [{}, {}, {}];
    memoized(a, b);
    memoized(a, b);
    expect(build).toHaveBeenCalledTimes(1);
    memoized(a, c);
    memoized(b, a);
    expect(build).toHaveBeenCalledTimes(3);
  });

  it('does not cache an error', () => {
    let fails = true;
    const memoized = memoizeByObject((of: { value: number }) => {
      if (fails) throw new Error('not yet');
      return of.value;
    });
    const of = { value: 1 };
    expect(() => memoized(of)).toThrow('not yet');
    fails = false;
    expect(memoized(of)).toBe(1);
  });
});

describe('a bounded map', () => {
  it('builds a missing value once, and is cleared at its limit', () => {
    const map = new Map<string, string | null>();
    const build = vi.fn(() => null);
    for (const key of ['a', 'a', 'b', 'c']) getOrBuild(map, key, 2, build);
    expect(build).toHaveBeenCalledTimes(3);
    expect([...map.keys()]).toEqual(['c']);
  });
});
