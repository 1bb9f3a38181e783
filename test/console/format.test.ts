import { describe, expect, it } from 'vitest';
import { ago, duration, money } from '../../src/console/text/format.ts';

describe('numbers and durations in the console', () => {
  it('writes how long ago, or how soon', () => {
    const at = (minutes: number) => ago(new Date(Date.now() - minutes * 60_000).toISOString());
    expect([0, 5, 179, -5, -60 * 23].map(at)).toEqual(['now', '5 min ago', '3 h ago', 'in 5 min', 'in 23 h']);
    expect([at(60 * 48), at(-60 * 48)].some((text) => /ago|in /.test(text))).toBe(false);
  });

  it('writes durations', () => {
    const times = [0, 999, 1_500, 65_000, 3_725_000, 86_400_000 * 2 + 3_600_000 * 5];
    expect(times.map(duration)).toEqual(['0 ms', '999 ms', '1.5 s', '1 min 5 s', '1 h 2 min', '2 d 5 h']);
  });

  it('keeps two significant digits of small sums', () => {
    expect([0, 12, 1_234.5, 0.25, 0.00093, 0.0000021].map(money)).toEqual(['0.00', '12.00', '1,234.50', '0.25', '0.00093', '0.0000021']);
  });
});
