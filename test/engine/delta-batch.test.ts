import { describe, expect, it } from 'vitest';
import { limits } from '../../src/core/limits.ts';
import { createDeltaBatch } from '../../src/engine/delta-batch.ts';
import { fakeClock } from '../fakes/runtime.ts';

const delta = (text: string) => ({ type: 'text-delta' as const, turn: 't', step: 1, text });

/** A piece every `everyMs`, on a machine whose timers come `lateMs` late; answers the rows. */
async function stream(pieces: number, everyMs: number, lateMs: number): Promise<string[]> {
  const rows: string[] = [];
  const clock = fakeClock();
  const late = { ...clock, after: (ms: number, run: () => void) => clock.after(ms + lateMs, run) };
  const batch = createDeltaBatch(late, (event) => void rows.push(event.type === 'text-delta' ? event.text : ''));
  for (let index = 0; index < pieces; index += 1) {
    batch.add(delta('.'));
    batch.readEnded();
    for (let ms = 0; ms < everyMs; ms += 10) await clock.advance(10);
  }
  batch.close();
  return rows;
}

describe('a stream’s rows', () => {
  it('begin at once, and then join what comes within 50 ms', async () => {
    const rows = await stream(100, 20, 0);
    expect(rows[0]).toBe('.');
    expect(rows.join('')).toHaveLength(100);
    expect(rows.length).toBeLessThan(50);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(4);
  });

  it('come one a piece from a slow model, without waiting for more', async () => {
    expect(await stream(10, 300, 0)).toEqual(Array.from({ length: 10 }, () => '.'));
  });

  it('are fewer while the machine is late, so that it can catch up, and never further apart than a bound', async () => {
    const rows = await stream(100, 200, 200);
    expect(rows.join('')).toHaveLength(100);
    expect(rows.length).toBeLessThan(30);
    const longestMs = Math.max(...rows.map((row) => row.length)) * 200;
    expect(longestMs).toBeGreaterThan(4 * limits.deltaFlushMs);
    expect(longestMs).toBeLessThanOrEqual(limits.maxDeltaFlushMs + 2 * 200);
  });
});
