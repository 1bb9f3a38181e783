import { expect, it } from 'vitest';
import { limits } from '../../../../src/core/limits/limits.ts';
import { setLateRowsDue } from '../../../../src/objects/catalog/records/late-rows.ts';
import { acceptDelivery } from '../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { openCallbacks, refused } from '../triggers/callbacks/callbacks-of.ts';
import { openLife, openStorage, run } from '../triggers/deliveries/deliveries-of.ts';

const hour = 3_600_000;

it.each([
  ['1 h', hour],
  ['1 d', 24 * hour],
  ['365 d', 365 * 24 * hour],
])('a delivery whose attempt was interrupted while the clock was ahead by %s is tried again when it returns', async (_, ms) => {
  const storage = openStorage();
  const life = openLife(storage);
  acceptDelivery(storage.context, run('1'));
  storage.advance(ms);
  life.fates.push('no answer');
  life.dispatcher.kick();
  await Promise.resolve();
  life.die();
  storage.advance(-ms);
  expect(life.dispatcher.nextDue()).toBeGreaterThan(storage.context.now() + limits.maxDispatchBackoffMs);
  setLateRowsDue(storage.context);
  expect(life.dispatcher.nextDue()).toBe(storage.context.now());
});

it('leaves a delivery and a callback that wait for their next attempt', async () => {
  const room = openCallbacks();
  await room.subscribe('one');
  room.outcomes = limits.callbackRetriesMs.map(() => refused);
  room.tell();
  await room.untilSent(1);
  await room.quiet();
  acceptDelivery(room.context, run('1'));
  room.context.sql.exec('UPDATE deliveries SET due_at = ?', room.now() + limits.maxDispatchBackoffMs);
  const dues = () => room.context.sql.exec('SELECT due_at FROM callbacks UNION ALL SELECT due_at FROM deliveries').toArray();
  for (let attempt = 1; attempt < limits.callbackRetriesMs.length; attempt += 1) {
    const before = dues();
    setLateRowsDue(room.context);
    expect(dues()).toEqual(before);
    await room.skip();
    room.context.sql.exec('UPDATE deliveries SET due_at = ?', room.now() + limits.maxDispatchBackoffMs);
  }
  room.context.sql.exec('UPDATE callbacks SET due_at = due_at + ?', 365 * 24 * hour);
  setLateRowsDue(room.context);
  expect(dues()[0]).toEqual({ due_at: room.now() });
});
