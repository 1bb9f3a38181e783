import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { acceptDelivery, followTurn, replayDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { readDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { limits } from '../../../../../src/core/limits/limits.ts';
import { hook, nightly, notice, openLife, openStorage, run, storeDocument, type Life, type Storage } from './deliveries-of.ts';
import {
  batchExtensionPerDeliveryMs,
  batchWindowMs,
  maxConcurrentDispatches,
} from '../../../../../src/objects/catalog/triggers/deliveries/dispatcher.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

const open = (): { storage: Storage; life: Life } => {
  const storage = openStorage();
  return { storage, life: openLife(storage) };
};
const status = ({ context }: Storage, id: string): string => readDelivery(context, hook, id).status;
const begun = (life: Life): string[] => life.begun.map(({ trigger }) => trigger.delivery);

it('dispatches a delivery with everything that its turn needs', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1', 'key'));
  life.dispatcher.kick();
  await life.quiet();
  expect(life.begun).toEqual([
    {
      workspace: 'default',
      trigger: { kind: 'webhook', name: 'hook', delivery: '1', run: 1 },
      agent: 'doer',
      sessionKey: 'key',
      turn: 'turn of 1',
      input: 'Do 1.',
      isRetry: false,
    },
  ]);
  expect(status(storage, '1')).toBe('running');
  expect(life.dispatcher.nextDue()).toBeNull();
});

it('dispatches one at a time to one session, and a limited number to many sessions', async () => {
  const { storage, life } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  life.hold = promise;
  for (let index = 0; index < 100; index += 1) acceptDelivery(storage.context, run(String(index), `session ${index % 50}`));
  life.dispatcher.kick();
  await vi.advanceTimersByTimeAsync(0);
  expect(life.tried).toHaveLength(maxConcurrentDispatches);
  life.dispatcher.kick();
  await life.dispatcher.runDue();
  await vi.advanceTimersByTimeAsync(0);
  expect(life.tried).toHaveLength(maxConcurrentDispatches);
  resolve();
  await life.quiet();
  expect(life.tried).toHaveLength(100);
  expect(begun(life).toSorted((one, other) => Number(one) - Number(other))).toEqual(
    Array.from({ length: 100 }, (_, index) => String(index)),
  );
});

/** Advances both the time and the timers. */
const pass = async (storage: Storage, ms: number): Promise<void> => {
  storage.advance(ms);
  await vi.advanceTimersByTimeAsync(ms);
};

/** Sends a delivery at each interval until one is dispatched; returns how long that took. */
const flood = async ({ storage, life }: ReturnType<typeof open>, everyMs: number): Promise<number> => {
  const begin = storage.context.now();
  for (let index = 0; life.tried.length === 0 && index < 10_000; index += 1) {
    acceptDelivery(storage.context, run(String(index)));
    life.dispatcher.arrived();
    expect(life.dispatcher.nextDue()).toBeLessThanOrEqual(begin + limits.maxBatchWindowMs);
    await pass(storage, everyMs);
    await life.dispatcher.runDue();
  }
  return storage.context.now() - begin;
};

it('a burst is only stored while it continues, and dispatched after it has ended', async () => {
  const { storage, life } = open();
  for (let index = 0; index < 50; index += 1) {
    acceptDelivery(storage.context, run(String(index)));
    life.dispatcher.arrived();
    await pass(storage, batchExtensionPerDeliveryMs);
    await life.dispatcher.runDue();
  }
  expect(life.tried).toEqual([]);
  await pass(storage, batchWindowMs);
  await life.quiet();
  expect(begun(life)).toHaveLength(50);
  expect(life.dispatcher.nextDue()).toBeNull();
});

it('an endless burst is dispatched anyway, and a steady stream soon', async () => {
  const endless = await flood(open(), 5);
  expect(endless).toBeGreaterThanOrEqual(limits.maxBatchWindowMs);
  expect(endless).toBeLessThan(limits.maxBatchWindowMs + batchWindowMs);
  expect(await flood(open(), 50)).toBeLessThan(2 * batchWindowMs);
});

it('a burst is dispatched by the alarm if its object dies meanwhile', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('last'));
  life.dispatcher.arrived();
  expect(life.dispatcher.nextDue()).toBe(storage.context.now() + batchWindowMs);
  life.die();
  await life.dispatcher.runDue();
  await life.quiet();
  expect(begun(life)).toEqual(['last']);
});

it('a delivery that a caller waits for skips the batch window', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.arrived();
  const taken = life.dispatcher.untilTaken(hook, '1', 1_000);
  await vi.advanceTimersByTimeAsync(0);
  await taken;
  expect(begun(life)).toEqual(['1']);
});

it('an unreachable session is retried with growing delays, and its later deliveries wait', async () => {
  const { storage, life } = open();
  life.fates = ['unreachable', 'unreachable', 'unreachable'];
  acceptDelivery(storage.context, run('1', 'one'));
  acceptDelivery(storage.context, run('2', 'one'));
  const pauses: number[] = [];
  life.dispatcher.kick();
  await life.quiet();
  while (life.begun.length === 0) {
    const pause = (life.dispatcher.nextDue() ?? 0) - storage.context.now();
    pauses.push(pause);
    storage.advance(pause - 1);
    await life.dispatcher.runDue();
    await life.quiet();
    expect(life.tried).toHaveLength(pauses.length);
    storage.advance(1);
    await life.dispatcher.runDue();
    await life.quiet();
  }
  expect(pauses).toEqual([1_000, 2_000, 4_000]);
  expect(begun(life)).toEqual(['1', '2']);
  expect(life.tried.map(({ isRetry: isRepeat }) => isRepeat)).toEqual([false, true, true, true, false]);
});

it('a permanent error fails at once with the reason, is reported once, and releases the next delivery', async () => {
  const { storage, life } = open();
  life.fates = ['refused'];
  acceptDelivery(storage.context, run('1', 'one'));
  acceptDelivery(storage.context, run('2', 'one'));
  life.dispatcher.kick();
  await life.quiet();
  expect(readDelivery(storage.context, hook, '1')).toMatchObject({ status: 'failed', reason: 'There is no agent "doer".' });
  expect(life.told).toMatchObject([
    {
      type: 'turn.failed',
      status: 'failed',
      reason: 'not_started',
      session: 'session of one',
      turn: 'turn of 1',
      agent: 'doer',
      trigger: { kind: 'webhook', name: 'hook', delivery: '1', run: 1 },
      problem: { code: 'not_found', status: 404 },
    },
  ]);
  // In the same transaction, without waiting for the alarm.
  expect(life.kicks).toEqual([1]);
  expect(begun(life)).toEqual(['2']);
});

it.each([
  ['its agent was written a moment ago', 'agent'],
  ['the toolset of its agent was', 'toolset'],
] as const)('what is not found although %s is tried again for as long as that may not be published yet', async (_what, fresh) => {
  const { storage, life } = open();
  const now = storage.context.now();
  const long = now - limits.freshReadMs;
  storeDocument(storage, 'agent', 'doer', { model: 'm', toolset: 'demo@2' }, fresh === 'agent' ? now : long);
  storeDocument(storage, 'toolset', 'demo', {}, fresh === 'toolset' ? now : long);
  life.fates = ['refused', 'refused'];
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.kick();
  await life.quiet();
  for (let tries = 0; tries < 2; tries += 1) {
    expect(status(storage, '1')).toBe('pending');
    storage.advance((life.dispatcher.nextDue() ?? 0) - storage.context.now());
    await life.dispatcher.runDue();
    await life.quiet();
  }
  expect([status(storage, '1'), life.told]).toEqual(['running', []]);

  storage.advance(limits.freshReadMs);
  life.fates = ['refused'];
  acceptDelivery(storage.context, run('2'));
  life.dispatcher.kick();
  await life.quiet();
  expect(status(storage, '2')).toBe('failed');
});

it('a delivery whose agent was just removed fails at once', async () => {
  const { storage, life } = open();
  storeDocument(storage, 'agent', 'doer', {}, storage.context.now());
  storage.context.sql.exec("UPDATE documents SET deleted = 1, body = '{}'");
  life.fates = ['refused'];
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.kick();
  await life.quiet();
  expect(status(storage, '1')).toBe('failed');
});

it('is dispatched by the alarm after a storage error, which the caller does not receive', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  storage.context.sql.exec("CREATE TRIGGER broken BEFORE UPDATE ON deliveries BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END");
  life.dispatcher.kick();
  expect(life.tried).toEqual([]);
  storage.context.sql.exec('DROP TRIGGER broken');
  await life.dispatcher.runDue();
  await life.quiet();
  expect(begun(life)).toEqual(['1']);
});

it('a clock that is set back delays nothing', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.arrived();
  storage.advance(-3_600_000);
  await vi.advanceTimersByTimeAsync(batchWindowMs);
  acceptDelivery(storage.context, run('2'));
  life.dispatcher.arrived();
  await pass(storage, batchWindowMs);
  await life.quiet();
  expect(begun(life)).toEqual(['2']);
});

it('fails after a day without reaching its session', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  for (let tries = 0; status(storage, '1') === 'pending'; tries += 1) {
    expect(tries).toBeLessThan(1_000);
    life.fates = ['unreachable'];
    storage.advance(Math.max(0, (life.dispatcher.nextDue() ?? 0) - storage.context.now()));
    await life.dispatcher.runDue();
    await life.quiet();
  }
  expect(readDelivery(storage.context, hook, '1').status).toBe('failed');
  expect(life.told).toHaveLength(1);
  // At most one retry delay after the day.
  const { receivedAt, endedAt } = readDelivery(storage.context, hook, '1');
  const took = Date.parse(endedAt ?? '') - Date.parse(receivedAt);
  expect(took).toBeGreaterThanOrEqual(limits.dispatchGiveUpMs);
  expect(took).toBeLessThanOrEqual(limits.dispatchGiveUpMs + limits.maxDispatchBackoffMs);
});

it('a session that never responds times out, and its delivery is retried', async () => {
  const { storage, life } = open();
  life.fates = ['taken, no answer'];
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.kick();
  await vi.advanceTimersByTimeAsync(limits.dispatchTimeoutMs);
  expect(status(storage, '1')).toBe('pending');
  storage.advance(limits.maxDispatchBackoffMs);
  await life.dispatcher.runDue();
  await vi.advanceTimersByTimeAsync(0);
  expect(status(storage, '1')).toBe('running');
  expect(begun(life)).toEqual(['1']);
});

it('a notice that arrives before the dispatch has returned is applied', async () => {
  const { storage, life } = open();
  life.fates = ['taken, no answer'];
  acceptDelivery(storage.context, run('1', 'one'));
  acceptDelivery(storage.context, run('2', 'one'));
  life.dispatcher.kick();
  await vi.advanceTimersByTimeAsync(0);
  const [first] = life.begun;
  if (first === undefined) throw new Error('nothing was begun');
  const heard: string[] = [];
  for (const id of ['1', '2']) void life.dispatcher.untilTaken(hook, id, limits.syncRespondMs).then(() => heard.push(id));
  const moved = followTurn(storage.context, first.trigger, notice(first));
  life.dispatcher.kick(moved === null ? [] : [moved]);
  await vi.advanceTimersByTimeAsync(0);
  expect(heard).toEqual(['1', '2']);
  expect([status(storage, '1'), status(storage, '2')]).toEqual(['completed', 'running']);
  expect(followTurn(storage.context, first.trigger, notice(first))).toBeNull();
  await vi.advanceTimersByTimeAsync(limits.dispatchTimeoutMs);
  expect(status(storage, '1')).toBe('completed');
});

it('a late result of an earlier run does not affect its replay', async () => {
  const { storage, life } = open();
  const { promise, resolve } = Promise.withResolvers<void>();
  life.hold = promise;
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.kick();
  await vi.advanceTimersByTimeAsync(0);
  const [first] = life.tried;
  if (first === undefined) throw new Error('nothing was tried');
  // Its session has started and ended it, and reports this before the dispatch returns.
  followTurn(storage.context, first.trigger, notice(first));
  replayDelivery(storage.context, hook, '1', run('1').verdict);
  life.hold = null;
  resolve();
  await life.quiet();
  expect(life.begun.map(({ trigger }) => trigger.run)).toEqual([1, 2]);
  expect(status(storage, '1')).toBe('running');
});

it('a waiting caller continues when the delivery is accepted or fails, otherwise after the timeout', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  acceptDelivery(storage.context, run('2'));
  await expect(life.dispatcher.untilTaken(hook, 'unknown', 1_000)).rejects.toThrow('has no delivery');
  const heard: string[] = [];
  for (const id of ['1', '2']) void life.dispatcher.untilTaken(hook, id, 5_000).then(() => heard.push(id));
  const late = life.dispatcher.untilTaken(hook, '1', 10).then(() => heard.push('late'));
  await vi.advanceTimersByTimeAsync(10);
  await late;
  expect(heard).toEqual(['late']);
  life.fates = ['taken', 'refused'];
  life.dispatcher.kick();
  await vi.advanceTimersByTimeAsync(0);
  expect(heard.toSorted()).toEqual(['1', '2', 'late']);
  await life.dispatcher.untilTaken(hook, '1', 1_000);
});

it('a queued run waits for all runs of its schedule in progress, including a manual one', async () => {
  const { storage, life } = open();
  const { context } = storage;
  const accept = async (id: string, isQueued: boolean): Promise<void> => {
    acceptDelivery(context, run(id, `own ${id}`, { trigger: nightly, ...(isQueued && { isQueued: true }) }));
    life.dispatcher.kick();
    await life.quiet();
  };
  const end = async (which: number): Promise<void> => {
    const one = life.begun[which];
    if (one === undefined) throw new Error('it was not begun');
    followTurn(context, one.trigger, notice(one));
    life.dispatcher.kick();
    await life.quiet();
  };
  await accept('first', true);
  await accept('queued', true);
  await accept('now', false);
  expect(begun(life)).toEqual(['first', 'now']);
  await end(0);
  expect(begun(life)).toEqual(['first', 'now']);
  await end(1);
  expect(begun(life)).toEqual(['first', 'now', 'queued']);
});

it('if an object dies during the batch window, the next one dispatches at once', async () => {
  const { storage, life } = open();
  acceptDelivery(storage.context, run('1'));
  life.dispatcher.arrived();
  life.die();
  expect(life.dispatcher.nextDue()).toBeLessThanOrEqual(storage.context.now());
  await life.dispatcher.runDue();
  await vi.advanceTimersByTimeAsync(0);
  expect(begun(life)).toEqual(['1']);
});
