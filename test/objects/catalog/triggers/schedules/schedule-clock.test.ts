/** Schedules while the clock jumps: each runs once for what it missed, and again in its times when the clock returned. */
import { expect, it } from 'vitest';
import { scheduleRoom } from './schedule-room.ts';

const minute = 60_000;
const hour = 60 * minute;
const start = '2026-03-07T10:00:00.000Z';
const at = (ms: number): string => new Date(Date.parse(start) + ms).toISOString();

const schedules = { interval: { interval: '10m' }, cron: { cron: '*/10 * * * *' }, daily: { cron: '0 12 * * *' } };

it.each([
  ['12 s', 12_000],
  ['1 h', hour],
  ['1 d', 24 * hour],
  ['365 d', 365 * 24 * hour],
])('a clock that is ahead by %s for a moment delays no run', async (_, ms) => {
  const room = scheduleRoom(start);
  for (const [name, times] of Object.entries(schedules)) await room.put(name, times);
  await room.runUntil(at(25 * minute));
  const before = room.runs('interval').length;
  expect(before).toBe(2);
  // Ahead: each is due, once.
  await room.ring(at(25 * minute + ms));
  expect(room.runs('interval').length - before).toBe(ms > 5 * minute ? 1 : 0);
  for (const { id } of room.runs('interval')) room.move('interval', id, 'completed');
  for (const { id } of room.runs('cron')) room.move('cron', id, 'completed');
  // Back: the alarm of the object runs at once.
  room.at(at(25 * minute + 1_000));
  expect(Date.parse(room.due() ?? '')).toBeLessThanOrEqual(room.now);
  await room.scheduler.runDue();
  expect(room.due()).toBe(at(30 * minute));
  await room.runUntil(at(3 * hour));
  const ids = (name: string): string[] => room.runs(name).map(({ id }) => id);
  const expected = Array.from({ length: 18 }, (_run, index) => at((index + 1) * 10 * minute));
  expect(ids('interval')).toEqual(expect.arrayContaining(expected));
  expect(ids('cron')).toEqual(expect.arrayContaining(expected));
  expect(ids('daily')).toContain('2026-03-07T12:00:00.000Z');
  for (const name of Object.keys(schedules)) expect(new Set(ids(name)).size).toBe(ids(name).length);
});

it.each([
  ['1 h', hour],
  ['1 d', 24 * hour],
  ['365 d', 365 * 24 * hour],
])('a clock that is set back by %s goes on with the next interval', async (_, ms) => {
  const room = scheduleRoom(start);
  await room.put('interval', schedules.interval);
  await room.put('once', { at: at(20 * minute) });
  await room.runUntil(at(12 * minute));
  await room.ring(at(12 * minute - ms));
  expect(room.due()).toBe(at(20 * minute - Math.floor((ms + 8 * minute) / (10 * minute)) * 10 * minute));
  await room.runUntil(at(40 * minute - ms));
  expect(room.runs('interval').length).toBe(1 + 3);
  // A date is one time.
  expect(room.runs('once')).toHaveLength(0);
});

it('a schedule that was written while the clock was ahead runs within one interval of its return', async () => {
  const room = scheduleRoom('2027-03-07T10:00:00Z');
  await room.put('often', { interval: '10m' });
  room.at(start);
  await room.scheduler.runDue();
  expect(Date.parse(room.due() ?? '') - Date.parse(start)).toBeLessThanOrEqual(10 * minute);
});
