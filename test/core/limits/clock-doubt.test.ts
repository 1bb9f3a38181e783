import { describe, expect, it } from 'vitest';
import { type ClockMark, type ClockState, describeDoubt, followClock } from '../../../src/core/limits/clock-doubt.ts';

const second = 1_000;
const hour = 3_600 * second;
const day = 24 * hour;
const start = Date.UTC(2026, 0, 1);

/** A machine whose clock is looked at every ten seconds of its uptime. */
function machine(state: ClockState | null = null) {
  const self = {
    state: state as ClockState | null,
    now: { wall: start, uptime: hour } as ClockMark,
    look: (): boolean => {
      self.state = followClock(self.state, self.now);
      return self.state.doubt === null;
    },
    pass: (ms: number): boolean => {
      self.now = { wall: self.now.wall + ms, uptime: self.now.uptime + ms };
      return self.look();
    },
    jump: (ms: number): void => {
      self.now = { ...self.now, wall: self.now.wall + ms };
    },
    restart: (offMs: number): void => {
      self.now = { wall: self.now.wall + offMs, uptime: 20 * second };
    },
  };
  self.look();
  return self;
}

describe('a clock', () => {
  it.each([
    ['+1 h', hour],
    ['-1 h', -hour],
    ['+1 d', day],
    ['-1 d', -day],
    ['+365 d', 365 * day],
    ['-365 d', -365 * day],
  ])('that jumps by %s is in doubt until it returns, or for a day', (_, ms) => {
    const one = machine();
    one.pass(10 * second);
    one.jump(ms);
    expect(one.pass(10 * second)).toBe(false);
    expect(one.pass(2 * hour)).toBe(false);
    one.jump(-ms);
    expect(one.pass(10 * second)).toBe(true);
    one.jump(ms);
    expect(one.pass(second)).toBe(false);
    expect(one.pass(day - second)).toBe(false);
    expect(one.pass(2 * second)).toBe(true);
    expect(one.state?.mark).toEqual(one.now);
  });

  it('that jumps again is in doubt for another day', () => {
    const one = machine();
    one.jump(day);
    one.pass(second);
    one.pass(20 * hour);
    one.jump(day);
    expect(one.pass(second)).toBe(false);
    expect(one.pass(20 * hour)).toBe(false);
    expect(one.pass(4 * hour)).toBe(true);
  });

  it.each([
    ['sleeps for a week', (one: ReturnType<typeof machine>) => one.pass(7 * day)],
    ['is corrected by 30 s', (one: ReturnType<typeof machine>) => one.jump(30 * second)],
    ['is restarted after 8 h', (one: ReturnType<typeof machine>) => one.restart(8 * hour)],
  ])('of a machine that %s is trusted', (_, happen) => {
    const one = machine();
    happen(one);
    expect(one.pass(10 * second)).toBe(true);
  });

  it.each([
    ['a week later', 7 * day],
    ['in 1970', -start],
  ])('of a machine that is restarted %s is in doubt for an hour', (_, offMs) => {
    const one = machine();
    one.restart(offMs);
    expect(one.look()).toBe(false);
    expect(one.pass(hour - second)).toBe(false);
    expect(one.pass(2 * second)).toBe(true);
  });

  it('that is wrong after a restart and is set right is trusted at once', () => {
    const one = machine();
    one.restart(-start);
    expect(one.look()).toBe(false);
    one.jump(start);
    expect(one.pass(10 * second)).toBe(true);
  });

  it('stays in doubt when the service is restarted on the running machine', () => {
    const one = machine();
    one.jump(365 * day);
    one.pass(second);
    const other = machine(structuredClone(one.state));
    other.now = { ...one.now };
    expect(other.pass(hour)).toBe(false);
    expect(other.pass(day)).toBe(true);
  });
});

it.each([
  [{ stepMs: 365 * day, since: 0, lastsMs: day }, 'ahead by 365 days', '24 hours'],
  [{ stepMs: -hour, since: 0, lastsMs: hour }, 'back by 60 minutes', '60 minutes'],
])('says how far it moved and how long the doubt lasts: %j', (doubt, moved, lasts) => {
  expect(describeDoubt(doubt, 0)).toContain(`moved ${moved}`);
  expect(describeDoubt(doubt, 0)).toContain(`for the next ${lasts}`);
});
