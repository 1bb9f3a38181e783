import { describe, expect, it } from 'vitest';
import { type Backoff, backoffMs, type DelayHints, delayOrAsked } from '../../../src/core/limits/backoff.ts';

describe('the delay after failures in a row', () => {
  it.each<[string, Backoff, number[]]>([
    ['is doubled with each', { firstMs: 500 }, [0, 500, 1_000, 2_000, 4_000]],
    ['grows by another factor', { firstMs: 1_000, factor: 4 }, [0, 1_000, 4_000, 16_000]],
    ['is the same with a factor of 1', { firstMs: 50, factor: 1 }, [0, 50, 50, 50]],
    ['has a maximum', { firstMs: 200, maxMs: 1_000 }, [0, 200, 400, 800, 1_000, 1_000]],
  ])('%s', (_what, backoff, delays) => {
    expect(delays.map((_delay, failures) => backoffMs(backoff, failures))).toEqual(delays);
  });

  it('stays at its maximum after any number of failures', () => {
    expect(backoffMs({ firstMs: 1, maxMs: 60_000 }, 100_000)).toBe(60_000);
  });
});

describe('a delay that the other side may lengthen', () => {
  it.each<[string, number, DelayHints, number]>([
    ['is ours when nothing was asked', 1_000, { maxAskedMs: 60_000 }, 1_000],
    ['is ours when the asked one is no number', 1_000, { askedMs: 'soon', maxAskedMs: 60_000 }, 1_000],
    ['is ours when a shorter one was asked', 1_000, { askedMs: 10, maxAskedMs: 60_000 }, 1_000],
    ['is the asked one when that is longer', 1_000, { askedMs: 5_000, maxAskedMs: 60_000 }, 5_000],
    ['has a maximum for the asked one', 1_000, { askedMs: 86_400_000, maxAskedMs: 60_000 }, 60_000],
    ['is not shortened by that maximum', 1_000, { askedMs: 86_400_000, maxAskedMs: 500 }, 1_000],
    ['is up to a tenth longer by chance', 1_000, { maxAskedMs: 0, dice: 1 }, 1_100],
    ['counts whole milliseconds', 333, { maxAskedMs: 0, dice: 0.5 }, 350],
  ])('%s', (_what, ownMs, hints, expected) => {
    expect(delayOrAsked(ownMs, hints)).toBe(expected);
  });
});
