import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { parsePart } from '../../../../src/core/problem.ts';
import { intervalMs, isSameRule, readTimeRule, timesFrom, type TimeRule } from '../../../../src/core/triggers/schedules/next-run.ts';
import { Schedule } from '../../../../src/core/triggers/schedules/schedule.ts';

type Times = Parameters<typeof readTimeRule>[0];

function rule(times: Times): TimeRule {
  const read = readTimeRule(times);
  if ('issue' in read) throw new Error(read.issue.message);
  return read.rule;
}

const at = (time: string): number => Date.parse(time);

describe('an interval', () => {
  it.each([
    ['1s', 1_000],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1h30m', 5_400_000],
    ['1d1h1m1s', 90_061_000],
    ['366d', limits.maxScheduleIntervalMs],
  ])('%s is %i ms', (text, ms) => {
    expect(intervalMs(text)).toBe(ms);
    expect(rule({ interval: text }).first(0)).toBe(ms);
  });

  it.each(['0s', '0d0h0m0s', '366d1s', '999999999d', '999999999d999999999h'])('%s is too short or too long', (interval) => {
    expect(readTimeRule({ interval })).toEqual({
      issue: { path: 'interval', message: expect.stringMatching(/^must be at (least 1s|most 366d)$/) },
    });
  });

  it.each(['', 's', '1', '1.5h', '-1h', '1 h', '1m1h', '1h 30m', '1w', '٣h', '1h\n'])('%j is not an interval', (interval) => {
    expect('issues' in parsePart(Schedule, { agent: 'demo', input: 'go', interval })).toBe(true);
  });

  it('stays on its grid, whenever it is evaluated', () => {
    const ms = fc.integer({ min: 1, max: 100_000 }).map((seconds) => seconds * 1_000);
    fc.assert(
      fc.property(ms, fc.nat(1e12), fc.nat(1e9), (interval, due, late) => {
        const { newest, next } = rule({ interval: `${interval / 1_000}s` }).since(due, due + late);
        expect((newest - due) % interval).toBe(0);
        expect(newest).toBeLessThanOrEqual(due + late);
        expect(next).toBe(newest + interval);
        expect(next).toBeGreaterThan(due + late);
      }),
    );
  });
});

describe('a single date', () => {
  const once = rule({ at: '2026-03-08T09:30:00+01:00' });

  it('is the instant that it names, in its own offset', () => {
    expect(once.first(at('2026-03-08T08:29:59Z'))).toBe(at('2026-03-08T08:30:00Z'));
    expect(once.first(at('2026-03-08T08:30:00Z'))).toBeNull();
  });

  it('is the same however late it is processed, and the last', () => {
    expect(once.since(at('2026-03-08T08:30:00Z'), at('2027-01-01T00:00:00Z'))).toEqual({ newest: at('2026-03-08T08:30:00Z'), next: null });
  });
});

describe('a cron rule', () => {
  it('returns the latest time that has passed and the next one', () => {
    const nightly = rule({ cron: '30 2 * * *', timeZone: 'America/New_York' });
    // Asleep from Friday to Sunday, the night in which 02:30 does not exist.
    expect(nightly.since(at('2026-03-06T07:30:00Z'), at('2026-03-08T12:00:00Z'))).toEqual({
      newest: at('2026-03-08T07:00:00Z'),
      next: at('2026-03-09T06:30:00Z'),
    });
  });

  it('runs what was due even if it would not match today', () => {
    const hourly = rule({ cron: '0 * * * *' });
    expect(hourly.since(at('2026-03-06T07:30:00Z'), at('2026-03-06T07:40:00Z'))).toEqual({
      newest: at('2026-03-06T07:30:00Z'),
      next: at('2026-03-06T08:00:00Z'),
    });
  });

  it('uses UTC without a time zone', () => {
    expect(rule({ cron: '0 12 * * *' }).first(at('2026-07-01T00:00:00Z'))).toBe(at('2026-07-01T12:00:00Z'));
  });
});

it('lists the coming times in order, as many as requested or available', () => {
  const start = at('2026-03-08T00:00:00Z');
  const hourly = rule({ interval: '1h' });
  expect(timesFrom(hourly, hourly.first(start), 3)).toEqual([1, 2, 3].map((hours) => start + hours * 3_600_000));
  expect(timesFrom(rule({ at: '2026-03-08T01:00:00Z' }), at('2026-03-08T01:00:00Z'), 3)).toEqual([at('2026-03-08T01:00:00Z')]);
  expect(timesFrom(hourly, null, 3)).toEqual([]);
});

it.each<[one: Times, other: Times, isSame: boolean]>([
  [{ interval: '60s' }, { interval: '1m' }, true],
  [{ interval: '60s' }, { interval: '61s' }, false],
  [{ cron: '0 0 * * *' }, { cron: ' 0  0 * * * ', timeZone: 'UTC' }, true],
  [{ cron: '0 0 * * *' }, { cron: '0 0 * * *', timeZone: 'Europe/Berlin' }, false],
  [{ at: '2026-03-08T09:30:00+01:00' }, { at: '2026-03-08T08:30:00Z' }, true],
  [{ at: '2026-03-08T09:30:00Z' }, { at: '2026-03-08T08:30:00Z' }, false],
  [{ cron: '0 0 * * *' }, { interval: '1d' }, false],
])('%j and %j have the same times: %s', (one, other, isSame) => {
  expect(isSameRule(one, other)).toBe(isSame);
});
