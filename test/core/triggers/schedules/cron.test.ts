import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCron } from '../../../../src/core/triggers/schedules/cron.ts';
import type { CronTimes } from '../../../../src/core/triggers/schedules/cron.ts';
import { runs } from '../../../selection.ts';

function times(pattern: string, timeZone = 'UTC'): CronTimes {
  const parsed = parseCron(pattern, timeZone);
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  return parsed.times;
}

function fault(pattern: string, timeZone = 'UTC'): { path: string; message: string } {
  const parsed = parseCron(pattern, timeZone);
  if (!('issue' in parsed)) throw new Error(`${pattern} was taken`);
  return parsed.issue;
}

/** Returns the next `count` times after `from`, as text in UTC without seconds. */
function nextTimes(pattern: string, timeZone: string, from: string, count: number): string[] {
  const { next } = times(pattern, timeZone);
  const found: string[] = [];
  for (let at = next(Date.parse(from)); at !== null && found.length < count; at = next(at))
    found.push(new Date(at).toISOString().slice(0, 16));
  return found;
}

describe('an expression of five fields', () => {
  it.each([
    ['0 9 * * 1-5', '2026-03-06T10:00Z', '2026-03-09T09:00'],
    ['*/15 * * * *', '2026-03-06T10:01Z', '2026-03-06T10:15'],
    ['10-50/20 * * * *', '2026-03-06T10:11Z', '2026-03-06T10:30'],
    ['0 0 1 JAN,jul *', '2026-03-06T10:00Z', '2026-07-01T00:00'],
    ['0 0 * * 7', '2026-03-06T10:00Z', '2026-03-08T00:00'],
    ['0 0 * * 0', '2026-03-06T10:00Z', '2026-03-08T00:00'],
    ['0 0 L * *', '2026-02-06T10:00Z', '2026-02-28T00:00'],
    ['0 0 * * FRI#L', '2026-03-06T10:00Z', '2026-03-27T00:00'],
    ['0 0 15W * *', '2026-03-06T10:00Z', '2026-03-16T00:00'],
    ['0 0 * * MON#2', '2026-03-06T10:00Z', '2026-03-09T00:00'],
    ['0 0 13 * FRI', '2026-03-06T10:00Z', '2026-03-13T00:00'],
    ['0 0 13 * +FRI', '2026-03-14T10:00Z', '2026-11-13T00:00'],
    ['0 0 29 2 *', '2026-03-06T10:00Z', '2028-02-29T00:00'],
    ['? ? ? ? ?', '2026-03-06T10:00Z', '2026-03-06T10:01'],
    ['  0   0 * * *  ', '2026-03-06T10:00Z', '2026-03-07T00:00'],
    ['@hourly', '2026-03-06T10:00Z', '2026-03-06T11:00'],
    ['@daily', '2026-03-06T10:00Z', '2026-03-07T00:00'],
    ['@weekly', '2026-03-06T10:00Z', '2026-03-08T00:00'],
    ['@monthly', '2026-03-06T10:00Z', '2026-04-01T00:00'],
    ['@yearly', '2026-03-06T10:00Z', '2027-01-01T00:00'],
  ])('%s matches %s after %s', (pattern, from, expected) => {
    expect(nextTimes(pattern, 'UTC', from, 1)).toEqual([expected]);
  });

  it.each([
    ['61 * * * *', 'the minute must be a number from 0 to 59'],
    ['* 24 * * *', 'the hour must be a number from 0 to 23'],
    ['* * 32 * *', 'the day must be a number from 1 to 31'],
    ['* * 0 * *', 'the day must be a number from 1 to 31'],
    ['* * * 13 *', 'the month must be a number from 1 to 12'],
    ['* * * 0 *', 'the month must be a number from 1 to 12'],
    ['* * * * 8', 'the weekday must be a number from 0 to 7'],
    ['5-1 * * * *', 'from value is larger than to value'],
    ['* * * * FRI-MON', 'split a range that wraps around'],
    ['*/0 * * * *', 'step'],
    ['0/5 * * * *', 'step'],
    ['a * * * *', 'illegal characters'],
    ['* * * *', 'has 4 fields, but five are required'],
    ['* * * * * *', 'has 6 fields'],
    ['* * * * * * 2027', 'has 7 fields'],
    ['', 'has 0 fields'],
    ['2027-01-01T00:00:00', 'has 1 field,'],
    ['@reboot', 'is neither an expression'],
    ['@every 5m', 'is neither an expression'],
    ['@fortnightly', 'is neither an expression'],
  ])('%s is rejected: %s', (pattern, part) => {
    const { path, message } = fault(pattern);
    expect(path).toBe('cron');
    expect(message.toLowerCase()).toContain(part.toLowerCase());
    expect(message).not.toContain('CronPattern');
  });

  it.each(['Mars/Olympus', '', 'Europe', '../etc/localtime', 'UTC; DROP'])('%s is not a time zone', (zone) => {
    expect(fault('0 0 * * *', zone)).toEqual({ path: 'timeZone', message: expect.stringContaining('use an IANA name') });
  });

  it.each(['0 0 31 2 *', '0 0 30 2 +MON', '0 0 31 4,6,9,11 *'])('%s never matches, and the search for it ends', (pattern) => {
    expect(times(pattern, 'America/New_York').next(Date.parse('2026-03-01T00:00Z'))).toBeNull();
    expect(times(pattern, 'America/New_York').last(Date.parse('2026-03-01T00:00Z'))).toBeNull();
  });

  it('rejects any invalid expression without throwing', () => {
    const character = fc.constantFrom(...'0123456789*/,-?LW#+@ \tMONJAé\u0000');
    const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: character, maxLength: 60 }));
    const fields = fc.array(fc.string({ unit: fc.constantFrom(...'0123456789*/,-?LW#+'), minLength: 1, maxLength: 8 }), {
      minLength: 5,
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          fields.map((parts) => parts.join(' ')),
        ),
        (pattern) => {
          const parsed = parseCron(pattern, 'UTC');
          if ('issue' in parsed) expect(parsed.issue.message).not.toBe('');
          else expect(parsed.times.next(0) ?? 1).toBeGreaterThan(0);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe('when clocks change', () => {
  it('a time that does not exist matches right after the skipped hour, on that day', () => {
    expect(nextTimes('30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', 2)).toEqual(['2026-03-08T07:00', '2026-03-09T06:30']);
    expect(nextTimes('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual(['2026-03-29T01:00', '2026-03-30T00:30']);
    // Half an hour, from 02:00 to 02:30.
    expect(nextTimes('15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00Z', 2)).toEqual(['2026-10-03T15:30', '2026-10-04T15:15']);
  });

  it('a time that exists twice matches once, the first time', () => {
    expect(nextTimes('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual(['2026-11-01T05:30', '2026-11-02T06:30']);
    expect(nextTimes('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual(['2026-10-25T00:30', '2026-10-26T01:30']);
    expect(nextTimes('45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', 2)).toEqual(['2026-04-04T14:45', '2026-04-05T15:15']);
  });

  it('lists and ranges of hours are fixed times too, as in cron itself', () => {
    expect(nextTimes('30 2,14 * * *', 'America/New_York', '2026-03-08T00:00Z', 2)).toEqual(['2026-03-08T07:00', '2026-03-08T18:30']);
    expect(nextTimes('30 0-1 * * *', 'America/New_York', '2026-11-01T00:00Z', 3)).toEqual([
      '2026-11-01T04:30',
      '2026-11-01T05:30',
      '2026-11-02T05:30',
    ]);
  });

  it('an interval stays constant through a repeated and a skipped hour', () => {
    expect(nextTimes('*/30 * * * *', 'America/New_York', '2026-11-01T05:10Z', 4)).toEqual([
      '2026-11-01T05:30',
      '2026-11-01T06:00',
      '2026-11-01T06:30',
      '2026-11-01T07:00',
    ]);
    expect(nextTimes('*/30 * * * *', 'America/New_York', '2026-03-08T06:20Z', 2)).toEqual(['2026-03-08T06:30', '2026-03-08T07:00']);
    expect(nextTimes('*/15 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:50Z', 2)).toEqual(['2026-04-04T15:00', '2026-04-04T15:15']);
  });
});

const patterns = ['*/7 * * * *', '30 2 * * *', '0,30 1-3 * * *', '@hourly', '0 9 * * 1-5', '15 1 L * *', '*/20 2 * 3,10,11 0'];
const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'Pacific/Apia'];
const instant = fc.integer({ min: Date.parse('2025-01-01T00:00Z'), max: Date.parse('2028-01-01T00:00Z') });

describe('for any expression, zone and time', () => {
  it('the next time is later, and the last time is not later than the given one', () => {
    fc.assert(
      fc.property(fc.constantFrom(...patterns), fc.constantFrom(...zones), instant, (pattern, zone, now) => {
        const { next, last } = times(pattern, zone);
        const following = next(now);
        const before = last(now);
        expect(following).toBeGreaterThan(now);
        expect(before).toBeLessThanOrEqual(now);
        // Each is the neighbor of the other: no time is between them.
        expect(next(before ?? Number.NaN)).toBe(following);
        expect(last((following ?? Number.NaN) - 1)).toBe(before);
        expect(last(following ?? Number.NaN)).toBe(following);
      }),
      { numRuns: runs(300) },
    );
  });
});
