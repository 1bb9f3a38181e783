import { describe, expect, it } from 'vitest';
import type { Call, TurnRecord } from '../../src/console/session/fold-events.ts';
import { timelineRows, timelineScale } from '../../src/console/session/timeline.ts';

const call = (fields: Partial<Call>) =>
  ({ callId: 'c', name: 'shell', state: 'done', inner: [], segments: [], ...fields }) as unknown as Call;

function turnOf(...calls: Call[]): TurnRecord {
  const blocks = calls.map((one) => ({ kind: 'call', call: one }));
  return { steps: [{ number: 1, startAt: 0, endAt: 30_000, blocks }], endAt: null } as unknown as TurnRecord;
}

const waited = call({
  segments: [
    { kind: 'run', from: 30_000, to: 30_010 },
    { kind: 'wait', from: 30_010, to: 40_000 },
    { kind: 'run', from: 40_000, to: 40_040 },
  ],
});

describe('the timeline', () => {
  it('counts waiting apart from running', () => {
    const [model, row] = timelineRows(turnOf(waited), 50_000);
    expect(model).toMatchObject({ label: 'Model, step 1', runMs: 30_000 });
    expect(row).toMatchObject({ label: 'shell', runMs: 50, waitMs: 9_990, depth: 1 });
  });

  it('gives a tool of 40 ms as much room as an answer of 30 s in sequence, and not in real time', () => {
    const rows = timelineRows(turnOf(waited), 50_000);
    const sequence = timelineScale(rows, 'sequence');
    expect([0, 30_000, 30_010, 40_000, 40_040].map(sequence)).toEqual([0, 25, 50, 75, 100]);
    expect(timelineScale(rows, 'real')(30_000)).toBeCloseTo(74.9, 1);
  });

  it('extends what is open to now, marks failures, and shows nested calls below their call', () => {
    const open = call({ state: 'waiting', segments: [{ kind: 'wait', from: 30_000, to: null }] });
    const failed = call({ name: 'inner', state: 'failed', segments: [{ kind: 'run', from: 30_000, to: 30_001 }] });
    const rows = timelineRows(turnOf({ ...open, inner: [failed] }), 31_000);
    expect(rows.slice(1)).toMatchObject([
      { waitMs: 1_000, runMs: 0, isWaiting: true },
      { label: 'inner', depth: 2, isFailed: true, bars: [{ kind: 'failed' }] },
    ]);
  });

  it('has no scale without times', () => {
    expect(timelineScale([], 'sequence')(5)).toBe(0);
  });
});
