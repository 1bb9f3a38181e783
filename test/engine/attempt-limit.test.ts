import { expect, it } from 'vitest';
import { createAttemptLimit } from '../../src/engine/attempt-limit.ts';
import { fakeClock } from '../fakes/runtime.ts';

function limited() {
  const clock = fakeClock();
  return { clock, limit: createAttemptLimit(clock.now, { perAddress: 3, perTarget: 10 }) };
}

const refused = { code: 'rate_limited' };

it('refuses an address after its failed attempts, for every target, and no other address', () => {
  const { limit } = limited();
  for (let n = 0; n < 3; n += 1) limit.begin('192.0.2.1', `hook-${n}`);
  expect(() => limit.require('192.0.2.1', 'another')).toThrow(expect.objectContaining(refused));
  expect(() => limit.require('192.0.2.2', 'another')).not.toThrow();
});

it('refuses a target that many addresses attack, and no other target', () => {
  const { limit } = limited();
  for (let n = 0; n < 10; n += 1) limit.begin(`192.0.2.${n}`, 'attacked');
  expect(() => limit.require('198.51.100.1', 'attacked')).toThrow(expect.objectContaining(refused));
  expect(() => limit.require('198.51.100.1', 'quiet')).not.toThrow();
});

it('admits both again after a minute, and when the clock is set back', async () => {
  const { limit, clock } = limited();
  for (let n = 0; n < 10; n += 1) limit.begin('192.0.2.1', 'attacked');
  await clock.advance(60_000);
  expect(() => limit.require('192.0.2.1', 'attacked')).not.toThrow();
  for (let n = 0; n < 10; n += 1) limit.begin('192.0.2.1', 'attacked');
  await clock.advance(-120_000);
  expect(() => limit.require('192.0.2.1', 'attacked')).not.toThrow();
});

it('counts a network of IPv6 as one address', () => {
  const { limit } = limited();
  for (let n = 0; n < 3; n += 1) limit.begin(`2001:db8:1:2::${n}`, 'hook');
  expect(() => limit.require('2001:db8:1:2:ffff::1', 'hook')).toThrow(expect.objectContaining(refused));
  expect(() => limit.require('2001:db8:1:3::1', 'hook')).not.toThrow();
});

it('remembers a bounded number of addresses', () => {
  const { limit } = limited();
  for (let n = 0; n < 3; n += 1) limit.begin('192.0.2.1', 'hook');
  for (let n = 0; n < 20_000; n += 1) limit.begin(null, `guessed-${n}`);
  expect(() => limit.require('192.0.2.1', 'hook')).not.toThrow();
});

it('takes back an attempt that succeeds, or fails for another reason', () => {
  const { limit } = limited();
  for (let n = 0; n < 20; n += 1) {
    limit.begin('192.0.2.1', 'hook').succeed();
    limit.begin('192.0.2.1', 'hook').forget();
  }
  expect(() => limit.require('192.0.2.1', 'hook')).not.toThrow();
  const open = [1, 2, 3].map(() => limit.begin('192.0.2.1', 'hook'));
  // As long as they are open, they may fail.
  expect(() => limit.require('192.0.2.1', 'hook')).toThrow(expect.objectContaining(refused));
  open[0]?.succeed();
  open[0]?.succeed();
  open[0]?.forget();
  expect(() => limit.require('192.0.2.1', 'hook')).not.toThrow();
  limit.begin('192.0.2.1', 'hook');
  expect(() => limit.require('192.0.2.1', 'hook')).toThrow(expect.objectContaining(refused));
});

it('does not let strangers shut out an address that has succeeded at the target within a day', async () => {
  const { limit, clock } = limited();
  limit.begin('192.0.2.200', 'attacked').succeed();
  limit.begin('192.0.2.201', 'attacked').forget();
  const attack = (): void => {
    for (let n = 0; n < 10; n += 1) limit.begin(`192.0.2.${n}`, 'attacked');
  };
  attack();
  expect(() => limit.require('192.0.2.200', 'attacked')).not.toThrow();
  for (const address of ['192.0.2.201', '192.0.2.1', null])
    expect(() => limit.require(address, 'attacked')).toThrow(expect.objectContaining(refused));
  // Its own failed attempts still count.
  for (let n = 0; n < 3; n += 1) limit.begin('192.0.2.200', 'attacked');
  expect(() => limit.require('192.0.2.200', 'attacked')).toThrow(expect.objectContaining(refused));
  await clock.advance(24 * 60 * 60_000);
  attack();
  expect(() => limit.require('192.0.2.200', 'attacked')).toThrow(expect.objectContaining(refused));
});
