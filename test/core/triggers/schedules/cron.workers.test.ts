import { expect, it } from 'vitest';
import { parseCron } from '../../../../src/core/triggers/schedules/cron.ts';

/** The Workers runtime has its own time zone data; `cron.test.ts` has the full tests. */
it.each([
  ['30 2 * * *', 'America/New_York', '2026-03-07T12:00Z', '2026-03-08T07:00:00.000Z'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T05:30Z', '2026-11-02T06:30:00.000Z'],
  ['*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T01:00:00.000Z'],
  ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00Z', '2026-04-04T14:45:00.000Z'],
  ['0 9 * * *', 'Asia/Kathmandu', '2026-04-04T00:00Z', '2026-04-04T03:15:00.000Z'],
])('%s in %s after %s matches at %s', (pattern, zone, from, expected) => {
  const parsed = parseCron(pattern, zone);
  if ('issue' in parsed) throw new Error(parsed.issue.message);
  const next = parsed.times.next(Date.parse(from));
  expect(new Date(next ?? 0).toISOString()).toBe(expected);
  expect(parsed.times.last(next ?? 0)).toBe(next);
});

it('reports an unknown time zone', () => {
  expect(parseCron('0 0 * * *', 'Mars/Olympus')).toMatchObject({ issue: { path: 'timeZone' } });
});
