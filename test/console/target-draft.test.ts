import { describe, expect, it } from 'vitest';
import { targetRows, targetWay, withTargets } from '../../src/console/pages/toolsets/target-draft.ts';

describe('targetRows', () => {
  it('shows weights, and callers as text', () => {
    const weights = { 'a.x': 95, 'b.x': 5 };
    expect(targetRows({ tool: ['a.x', 'b.x'], choose: { weights } }).map(({ weight }) => weight)).toEqual([95, 5]);
    const callers: Record<string, Record<string, string>[]> = { 'b.x': [{ role: 'admin', team: 'blue green' }, { key: 'k7' }] };
    expect(targetRows({ tool: ['a.x', 'b.x'], choose: { callers } })).toEqual([
      { tool: 'a.x', callers: '' },
      { tool: 'b.x', callers: 'role=admin team=blue green; key=k7' },
    ]);
  });

  it('keeps callers that cannot be written as text', () => {
    const entry = { tool: ['a.x', 'b.x'], choose: { callers: { 'b.x': [{ team: 'a;b' }] } } };
    expect(withTargets(entry, targetRows(entry), targetWay(entry))).toEqual(entry);
  });
});

describe('withTargets', () => {
  it('writes one target as a name without a choice, and leaves rows without a tool out', () => {
    const rows = [
      { tool: 'a.x', callers: '' },
      { tool: '', callers: '' },
    ];
    const entry = { tool: ['a.x', 'b.x'], choose: { weights: { 'a.x': 1, 'b.x': 2 } }, name: 'find' };
    expect(withTargets(entry, rows, 'weights')).toEqual({ tool: 'a.x', name: 'find' });
  });

  it('writes the order, the weights or the callers of several targets', () => {
    const rows = [
      { tool: 'b.x', callers: '' },
      { tool: 'a.x', weight: 3, callers: 'role=admin team=blue green; key=k7' },
    ];
    expect(withTargets({ tool: 'a.x' }, rows, 'in-order')).toEqual({ tool: ['b.x', 'a.x'] });
    expect(withTargets({ tool: 'a.x' }, rows, 'weights').choose).toEqual({ weights: { 'b.x': 1, 'a.x': 3 } });
    expect(withTargets({ tool: 'a.x' }, rows, 'callers').choose).toEqual({
      callers: { 'a.x': [{ role: 'admin', team: 'blue green' }, { key: 'k7' }] },
    });
  });
});
