import { describe, expect, it } from 'vitest';
import type { SessionEventBody } from '../../../src/core/turn/session-event.ts';
import { createEventBatch } from '../../../src/engine/turn/event-batch.ts';
import { fakeClock } from '../../fakes/runtime.ts';
import { deltaFlushMs, maxDeltaFlushMs, unfollowedFlushMs } from '../../../src/engine/turn/event-batch.ts';

const delta = (text: string) => ({ type: 'text-delta' as const, turn: 't', step: 1, text });

/** Adds a piece every `everyMs`, on a machine whose timers fire `lateMs` late; returns the rows. `isFollowed`: before this piece. */
async function stream(pieces: number, everyMs: number, lateMs: number, isFollowed = (_index: number) => true): Promise<string[]> {
  const rows: string[] = [];
  const clock = fakeClock();
  const late = { ...clock, after: (ms: number, run: () => void) => clock.after(ms + lateMs, run) };
  let at = 0;
  const append = (...events: readonly SessionEventBody[]): void =>
    void rows.push(...events.map((event) => (event.type === 'text-delta' ? event.text : '')));
  const batch = createEventBatch(late, append, () => isFollowed(at));
  for (let index = 0; index < pieces; index += 1) {
    at = index;
    batch.add(delta('.'));
    batch.readEnded();
    for (let ms = 0; ms < everyMs; ms += 10) await clock.advance(10);
  }
  batch.flush();
  return rows;
}

it('writes text with the next row when it could not be written by the timer', async () => {
  const rows: string[] = [];
  const clock = fakeClock();
  let isFull = false;
  const batch = createEventBatch(clock, (...events) => {
    if (isFull) throw new Error('the disk is full');
    rows.push(events.map((event) => (event.type === 'text-delta' ? event.text : '')).join(' '));
  });
  for (const text of ['a', 'b']) {
    batch.add(delta(text));
    batch.readEnded();
  }
  isFull = true;
  await clock.advance(deltaFlushMs);
  batch.add(delta('c'));
  expect(() => batch.flush()).toThrow('the disk is full');
  isFull = false;
  batch.flush();
  expect(rows).toEqual(['a', 'b c']);
});

describe('the rows of a stream', () => {
  it('start at once, and then join what arrives within 50 ms', async () => {
    const rows = await stream(100, 20, 0);
    expect(rows[0]).toBe('.');
    expect(rows.join('')).toHaveLength(100);
    expect(rows.length).toBeLessThan(50);
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(4);
  });

  it('join what arrives within 500 ms while no client follows, and 50 ms once one does', async () => {
    const rows = await stream(200, 20, 0, (index) => index >= 100);
    expect(rows.join('')).toHaveLength(200);
    const longest = unfollowedFlushMs / 20 + 1;
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(longest);
    const before = rows.slice(0, Math.ceil(100 / longest) + 1);
    expect(before.join('').length).toBeGreaterThanOrEqual(100);
    expect(Math.max(...rows.slice(before.length).map((row) => row.length))).toBeLessThanOrEqual(4);
  });

  it('are one per piece for a slow model, without delay', async () => {
    expect(await stream(10, 300, 0)).toEqual(Array.from({ length: 10 }, () => '.'));
  });

  it('are fewer while timers fire late, up to a maximum interval', async () => {
    const rows = await stream(100, 200, 200);
    expect(rows.join('')).toHaveLength(100);
    expect(rows.length).toBeLessThan(30);
    const longestMs = Math.max(...rows.map((row) => row.length)) * 200;
    expect(longestMs).toBeGreaterThan(4 * deltaFlushMs);
    expect(longestMs).toBeLessThanOrEqual(maxDeltaFlushMs + 2 * 200);
  });
});

it('writes the events of one network read as one row, in order', () => {
  const rows: string[][] = [];
  const batch = createEventBatch(fakeClock(), (...events) => void rows.push(events.map(({ type }) => type)));
  const at = { turn: 't', step: 1, callId: 'c' };
  batch.add(delta('a'));
  batch.add(delta('b'));
  batch.add({ type: 'tool-input-start', ...at, name: 'n', canonical: null, via: null });
  batch.add({ type: 'tool-input-delta', ...at, delta: '{}' });
  batch.add({ type: 'tool-input-end', ...at, arguments: {}, repaired: false });
  expect(rows).toEqual([]);
  batch.readEnded();
  expect(rows).toEqual([['text-delta', 'tool-input-start', 'tool-input-delta', 'tool-input-end']]);
  for (let index = 0; index < 200; index += 1) batch.add({ type: 'native', turn: 't', step: 1, provider: 'p', data: {} });
  expect(rows.length).toBeGreaterThan(3);
  batch.flush();
  expect(rows.flat()).toHaveLength(204);
});

it('writes all events of 500 ms as one row while no client follows', async () => {
  const rows: string[][] = [];
  const clock = fakeClock();
  const batch = createEventBatch(
    clock,
    (...events) => void rows.push(events.map(({ type }) => type)),
    () => false,
  );
  const at = { turn: 't', step: 1, callId: 'c' };
  const events: SessionEventBody[] = [
    delta('a'),
    { type: 'tool-input-start', ...at, name: 'n', canonical: null, via: null },
    { type: 'tool-input-delta', ...at, delta: '{}' },
  ];
  for (const event of events) {
    batch.add(event);
    batch.readEnded();
    await clock.advance(50);
  }
  expect(rows).toEqual([]);
  await clock.advance(unfollowedFlushMs);
  expect(rows).toEqual([['text-delta', 'tool-input-start', 'tool-input-delta']]);
  batch.add({ type: 'tool-input-end', ...at, arguments: {}, repaired: false });
  batch.flush();
  expect(rows).toHaveLength(2);
});
