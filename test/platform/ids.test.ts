import { afterEach, describe, expect, it, vi } from 'vitest';
import { randomIds } from '../../src/platform/ids.ts';

describe('ids', () => {
  afterEach(() => void vi.useRealTimers());

  it('have a prefix and 32 characters, and differ', () => {
    for (const prefix of ['turn', 'req', 'call']) {
      const ids = Array.from({ length: 1_000 }, () => randomIds.next(prefix));
      expect(new Set(ids).size).toBe(1_000);
      for (const id of ids) expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{32}$`));
    }
  });

  it('of requests and calls sort by the time at which they were made, and are random otherwise', () => {
    vi.useFakeTimers();
    const times = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1, Date.UTC(2026, 0, 1) + 31, Date.UTC(2026, 0, 2), Date.UTC(2126, 0, 1)];
    for (const prefix of ['req', 'call']) {
      const ids = times.map((time) => {
        vi.setSystemTime(time);
        return randomIds.next(prefix);
      });
      expect(ids.toSorted()).toEqual(ids);
      expect(new Set(ids.map((id) => id.slice(-22))).size).toBe(times.length);
    }
  });

  it('of other kinds do not contain the time', () => {
    vi.useFakeTimers();
    vi.setSystemTime(Date.UTC(2026, 0, 1));
    const starts = Array.from({ length: 100 }, () => randomIds.next('mcp').slice(0, 14));
    expect(new Set(starts).size).toBe(100);
  });
});
