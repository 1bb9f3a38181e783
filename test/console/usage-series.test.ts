import { describe, expect, it } from 'vitest';
import { axisEnd, daySeries, groupRows, others, usualMeasure } from '../../src/console/pages/usage/usage-series.ts';

const row = (day: string, model: string, calls: number, cost: number | null) => ({ day, model, calls, failures: 0, durationMs: 1, cost });
const range = { from: '2026-02-27', to: '2026-03-02' };

describe('sums of usage in the console', () => {
  it('adds up groups, the largest first; an unknown cost is not zero', () => {
    const rows = [row('2026-03-01', 'a/x', 2, null), row('2026-03-01', 'b/y', 1, 0.5), row('2026-03-02', 'b/y', 1, null)];
    expect(groupRows(rows, 'model', 'calls')).toMatchObject([
      { name: 'a/x', calls: 2, cost: null },
      { name: 'b/y', calls: 2, cost: 0.5 },
    ]);
    expect(groupRows(rows, 'agent', 'calls')).toMatchObject([{ name: 'none', calls: 4 }]);
    expect(usualMeasure({ calls: 2, failures: 0, durationMs: 1, cost: null })).toBe('calls');
  });

  it('has a bar for each day, and one series for what follows the five largest groups', () => {
    const rows = ['a', 'b', 'c', 'd', 'e', 'f', '__proto__'].map((name, index) => row('2026-02-28', name, 10 - index, null));
    const { names, days } = daySeries(rows, 'model', 'calls', range);
    expect(names).toEqual(['a', 'b', 'c', 'd', 'e', others]);
    expect(days.map(({ day, total }) => [day, total])).toEqual([
      ['2026-02-27', 0],
      ['2026-02-28', 49],
      ['2026-03-01', 0],
      ['2026-03-02', 0],
    ]);
    expect(days[1]?.values).toEqual([10, 9, 8, 7, 6, 9]);
  });

  it('ends an axis at a round number', () => {
    expect([0, 3, 5, 0.008, 41, 99].map((value) => axisEnd(value, value >= 1 || value === 0))).toEqual([4, 4, 5, 0.01, 50, 100]);
  });
});
