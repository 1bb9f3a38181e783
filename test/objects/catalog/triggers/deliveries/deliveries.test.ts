import { afterEach, expect, it } from 'vitest';
import {
  acceptDelivery,
  followTurn,
  lastRunsOf,
  replayDelivery,
} from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { listDeliveries, readDelivery, readDeliveryPayload } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { createDeliverySweep } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-sweep.ts';
import { limits } from '../../../../../src/core/limits/limits.ts';
import type { NewDelivery } from '../../../../../src/ports/triggers.ts';
import { hook, nightly, notice, openLife, openStorage, run } from './deliveries-of.ts';

const changed = limits as unknown as Record<string, number>;
const usual = { ...changed };
afterEach(() => void Object.assign(changed, usual));

const ignored = (id: string, text = '{}'): NewDelivery => ({
  trigger: hook,
  id,
  event: null,
  payload: { text, isJson: true, headers: {} },
  verdict: { become: 'ignored', reason: 'The filter does not match.', warnings: [] },
});

it('a repeat is counted and returns the first result, whatever its body', () => {
  const { context } = openStorage();
  const first = acceptDelivery(context, run('1', 'key', { text: '{"a":1}' }));
  expect(first).toEqual({
    id: '1',
    status: 'pending',
    reason: null,
    session: 'session of key',
    turn: 'turn of 1',
    run: 1,
    isRepeat: false,
  });
  expect(acceptDelivery(context, run('1', 'another key', { text: '{"a":2}', turn: 'another' }))).toEqual({ ...first, isRepeat: true });
  expect(acceptDelivery(context, ignored('1'))).toEqual({ ...first, isRepeat: true });
  expect(readDelivery(context, hook, '1')).toMatchObject({ repeats: 2, sessionKey: 'key', payload: { a: 1 }, event: 'thing.happened' });
});

it('the call of a request that lost its response is no repeat', () => {
  const { context } = openStorage();
  const first = acceptDelivery(context, run('1'));
  expect(acceptDelivery(context, run('1'))).toEqual(first);
  expect(readDelivery(context, hook, '1')).toMatchObject({ repeats: 0 });
});

it('the same id is another delivery for another trigger, and ids are case-sensitive', () => {
  const { context } = openStorage();
  const other = { kind: 'webhook', name: 'other' } as const;
  expect(acceptDelivery(context, run('a')).isRepeat).toBe(false);
  expect(acceptDelivery(context, run('A')).isRepeat).toBe(false);
  expect(acceptDelivery(context, run('a', 'a', { trigger: other })).isRepeat).toBe(false);
  expect(acceptDelivery(context, run('a', 'a', { trigger: { ...other, kind: 'schedule' } })).isRepeat).toBe(false);
});

it('ignored or failed deliveries are stored with the reason, end at once, and block nothing', async () => {
  const storage = openStorage();
  const { context } = storage;
  acceptDelivery(context, ignored('1'));
  const failed = { become: 'failed' as const, reason: 'session: {{a.b}} names nothing', warnings: ['{{a.b}}'] };
  expect(acceptDelivery(context, { ...ignored('2'), verdict: failed })).toMatchObject({
    status: 'failed',
    reason: failed.reason,
    session: null,
  });
  expect(readDelivery(context, hook, '2')).toMatchObject({ warnings: ['{{a.b}}'], endedAt: '2026-01-01T00:00:00.000Z', turn: null });
  const life = openLife(storage);
  life.dispatcher.kick();
  await life.quiet();
  expect(life.tried).toEqual([]);
});

it('a payload of several chunks is read back unchanged, text as text, and an empty one as empty', () => {
  const { context } = openStorage();
  const long = `${'é'.repeat(limits.storageChunkBytes)}\u0000 "end"`;
  const plain = (id: string, text: string): NewDelivery => ({ ...ignored(id), payload: { text, isJson: false, headers: { 'x-a': 'b' } } });
  acceptDelivery(context, plain('long', long));
  acceptDelivery(context, plain('empty', ''));
  expect(readDelivery(context, hook, 'long').payload).toBe(long);
  expect(readDelivery(context, hook, 'empty').payload).toBe('');
  expect(readDeliveryPayload(context, hook, 'empty').payload).toEqual({ text: '', isJson: false, headers: { 'x-a': 'b' } });
});

it('lists the newest first, in pages, filtered by status', () => {
  const { context } = openStorage();
  for (let index = 0; index < 7; index += 1) acceptDelivery(context, index % 2 === 0 ? run(String(index)) : ignored(String(index)));
  acceptDelivery(context, run('of another', 'k', { trigger: nightly }));
  const first = listDeliveries(context, hook, { limit: 3 });
  expect(first.items.map(({ id }) => id)).toEqual(['6', '5', '4']);
  const second = listDeliveries(context, hook, { limit: 4, cursor: first.nextCursor ?? '' });
  expect(second.items.map(({ id }) => id)).toEqual(['3', '2', '1', '0']);
  expect(second.nextCursor).toBeNull();
  const some = listDeliveries(context, hook, { limit: 2, status: 'ignored' });
  expect(some.items.map(({ id }) => id)).toEqual(['5', '3']);
  expect(listDeliveries(context, hook, { limit: 2, status: 'ignored', cursor: some.nextCursor ?? '' }).items).toHaveLength(1);
  expect(() => listDeliveries(context, nightly, { limit: 3, cursor: first.nextCursor ?? '' })).toThrow('cursor');
});

it('a page ends before its payloads are too large, but has at least one delivery', () => {
  const { context } = openStorage();
  changed.listPageBytes = 100;
  for (let index = 0; index < 4; index += 1) acceptDelivery(context, ignored(String(index), JSON.stringify('x'.repeat(60))));
  const page = listDeliveries(context, hook, { limit: 10 });
  expect(page.items).toHaveLength(1);
  expect(listDeliveries(context, hook, { limit: 10, cursor: page.nextCursor ?? '' }).items.map(({ id }) => id)).toEqual(['2']);
});

it('above the backlog limit, the next delivery gets a retry time and is not stored', async () => {
  const storage = openStorage();
  const { context } = storage;
  const refused = expect.objectContaining({ code: 'rate_limited', extra: { retryAfterMs: limits.backlogRetryAfterMs } });
  changed.maxPendingDeliveries = 4;
  acceptDelivery(context, run('1', 'one'));
  acceptDelivery(context, run('2', 'one'));
  expect(() => acceptDelivery(context, run('3', 'one'))).toThrow(refused);
  expect(acceptDelivery(context, run('2', 'one', { turn: 'another' })).isRepeat).toBe(true);
  expect(acceptDelivery(context, ignored('4')).status).toBe('ignored');
  expect(() => readDelivery(context, hook, '3')).toThrow('has no delivery');

  const life = openLife(storage);
  life.dispatcher.kick();
  await life.quiet();
  expect(acceptDelivery(context, run('3', 'one')).isRepeat).toBe(false);
  changed.maxPendingDeliveries = 100;
  changed.maxPendingDeliveryBytes = 10;
  expect(() => acceptDelivery(context, run('5', 'one'))).toThrow(refused);
  // Counting the rows gives the same result.
  life.die();
  expect(() => acceptDelivery(context, run('5', 'one'))).toThrow(refused);
});

it('one trigger uses at most half of the backlog, so that others are not rejected', () => {
  const storage = openStorage();
  const { context } = storage;
  const refused = expect.objectContaining({ code: 'rate_limited' });
  const other = { kind: 'webhook', name: 'other' } as const;
  changed.maxPendingDeliveries = 4;
  for (const id of ['1', '2']) acceptDelivery(context, run(id, 'busy'));
  expect(() => acceptDelivery(context, run('3', 'busy'))).toThrow(refused);
  acceptDelivery(context, run('1', 'k', { trigger: other }));
  acceptDelivery(context, run('2', 'k', { trigger: other }));
  expect(() => acceptDelivery(context, run('1', 'n', { trigger: nightly }))).toThrow(refused);
  // Counting the rows gives the same result.
  openLife(storage).die();
  changed.maxPendingDeliveries = 6;
  for (const trigger of [hook, other]) acceptDelivery(context, run('3', 'k', { trigger }));
  for (const trigger of [hook, other, nightly]) expect(() => acceptDelivery(context, run('4', 'k', { trigger }))).toThrow(refused);
  changed.maxPendingDeliveries = 100;
  changed.maxPendingDeliveryBytes = 10_000;
  acceptDelivery(context, run('large', 'k', { text: textOf(6_000) }));
  expect(() => acceptDelivery(context, run('5', 'k'))).toThrow(refused);
  acceptDelivery(context, run('5', 'k', { trigger: other }));
});

it('two triggers that take what there is leave some of the backlog for a third', () => {
  const { context } = openStorage();
  changed.maxPendingDeliveries = 100;
  const fill = (name: string): number => {
    for (let count = 0; ; count += 1)
      try {
        acceptDelivery(context, run(String(count), name, { trigger: { kind: 'webhook', name } }));
      } catch {
        return count;
      }
  };
  expect([fill('one'), fill('two')]).toEqual([50, 38]);
  expect(fill('three')).toBeGreaterThan(5);
});

it('a turn is followed to its end, and later or older notices change nothing', async () => {
  const storage = openStorage();
  const { context } = storage;
  const life = openLife(storage);
  acceptDelivery(context, run('1'));
  life.dispatcher.kick();
  await life.quiet();
  const status = (): string => readDelivery(context, hook, '1').status;
  const [begun] = life.begun;
  if (begun === undefined) throw new Error('nothing was begun');
  expect(status()).toBe('running');
  followTurn(context, begun.trigger, notice(begun, 'waiting'));
  expect(status()).toBe('waiting');
  followTurn(context, begun.trigger, { ...notice(begun, 'failed'), problem: { detail: 'The model is gone.' } });
  expect(readDelivery(context, hook, '1')).toMatchObject({ status: 'failed', reason: 'The model is gone.', endedAt: expect.any(String) });
  followTurn(context, begun.trigger, notice(begun, 'completed'));
  expect(status()).toBe('failed');

  replayDelivery(context, hook, '1', { ...run('1').verdict, turn: 'another turn' } as NewDelivery['verdict']);
  followTurn(context, begun.trigger, notice(begun, 'completed'));
  expect(status()).toBe('pending');
  followTurn(context, { ...begun.trigger, run: 2 }, { ...notice(begun), turn: 'another turn' });
  expect(readDelivery(context, hook, '1')).toMatchObject({ status: 'completed', reason: null, run: 2, turn: 'another turn' });
});

it('a replay above the backlog limit is refused like a new delivery, unless nothing is to be run', () => {
  const { context } = openStorage();
  changed.maxPendingDeliveries = 4;
  acceptDelivery(context, ignored('old'));
  for (const id of ['1', '2']) acceptDelivery(context, run(id));
  expect(() => replayDelivery(context, hook, 'old', run('old').verdict)).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  expect(readDelivery(context, hook, 'old')).toMatchObject({ status: 'ignored', run: 1 });
  expect(replayDelivery(context, hook, 'old', ignored('old').verdict)).toMatchObject({ status: 'ignored', run: 2 });
});

it('a replay that no longer matches is stored as such, and one of a running delivery is rejected', () => {
  const { context } = openStorage();
  acceptDelivery(context, run('1'));
  expect(() => replayDelivery(context, hook, '1', run('1').verdict)).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(() => replayDelivery(context, hook, '2', run('2').verdict)).toThrow(expect.objectContaining({ code: 'not_found' }));
  acceptDelivery(context, ignored('3'));
  expect(replayDelivery(context, hook, '3', run('3').verdict)).toMatchObject({ status: 'pending', run: 2, session: 'session of 3' });
  acceptDelivery(context, ignored('4'));
  expect(replayDelivery(context, hook, '4', { become: 'failed', reason: 'Why.', warnings: [] })).toMatchObject({
    status: 'failed',
    reason: 'Why.',
    run: 2,
    session: null,
  });
});

it('payloads are deleted a week after the end and rows after a month; running ones remain', async () => {
  const { context, advance } = openStorage();
  const sweep = createDeliverySweep(context);
  expect(sweep.nextDue()).toBeNull();
  acceptDelivery(context, run('pending'));
  expect(sweep.nextDue()).toBeNull();
  const start = context.now();
  acceptDelivery(context, ignored('ended', '{"a":1}'));
  expect(sweep.nextDue()).toBe(start + limits.deliveryPayloadTtlMs);
  advance(limits.deliveryPayloadTtlMs - 1);
  await sweep.runDue();
  expect(readDelivery(context, hook, 'ended').payload).toEqual({ a: 1 });
  advance(limits.sweepIntervalMs);
  await sweep.runDue();
  expect(readDelivery(context, hook, 'ended').payload).toBeNull();
  expect(() => readDeliveryPayload(context, hook, 'ended')).toThrow(expect.objectContaining({ code: 'conflict' }));
  expect(acceptDelivery(context, ignored('ended')).isRepeat).toBe(true);
  expect(sweep.nextDue()).toBe(start + limits.deliveryTtlMs);
  advance(limits.deliveryTtlMs);
  await sweep.runDue();
  expect(() => readDelivery(context, hook, 'ended')).toThrow('has no delivery');
  expect(readDelivery(context, hook, 'pending').payload).toEqual({ id: 'pending' });
  expect(sweep.nextDue()).toBeNull();
});

it('a large sweep runs in parts, one right after the other', async () => {
  const { context, advance } = openStorage();
  const sweep = createDeliverySweep(context);
  changed.maxSweptRows = 3;
  for (let index = 0; index < 8; index += 1) acceptDelivery(context, ignored(String(index)));
  advance(limits.deliveryTtlMs);
  await sweep.runDue();
  expect(listDeliveries(context, hook, { limit: 10 }).items).toHaveLength(5);
  expect(sweep.nextDue()).toBeLessThanOrEqual(context.now());
  await sweep.runDue();
  await sweep.runDue();
  expect(listDeliveries(context, hook, { limit: 10 }).items).toEqual([]);
});

it('a busy trigger keeps its newest deliveries, and all that have not ended', () => {
  const { context } = openStorage();
  changed.maxStoredDeliveries = 10;
  changed.maxSweptRows = 5;
  acceptDelivery(context, run('pending'));
  acceptDelivery(context, run('of another', 'k', { trigger: nightly }));
  for (let index = 0; index < 100; index += 1) acceptDelivery(context, ignored(String(index)));
  const kept = listDeliveries(context, hook, { limit: 100 }).items.map(({ id }) => id);
  expect(kept.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, index) => String(99 - index)));
  expect(kept.length).toBeLessThanOrEqual(10 + 5 + 1);
  expect(kept.at(-1)).toBe('pending');
  expect(readDelivery(context, nightly, 'of another').status).toBe('pending');
});

/** JSON with this number of bytes. */
function textOf(bytes: number): string {
  return JSON.stringify('x'.repeat(bytes - 2));
}

it('payloads above the total size are deleted, oldest first, and their results remain', async () => {
  const { context } = openStorage();
  changed.maxStoredPayloadBytes = 10_000;
  changed.payloadRecountBytes = 2_000;
  changed.maxSweptRows = 3;
  acceptDelivery(context, run('pending', 'k', { text: textOf(5_000) }));
  const kept = (id: string): boolean => readDelivery(context, hook, id).payload !== null;
  for (let index = 0; index < 100; index += 1) {
    acceptDelivery(context, ignored(String(index), textOf(1_000)));
    const count = Array.from({ length: index + 1 }, (_, id) => kept(String(id))).filter(Boolean).length;
    expect(count).toBeLessThanOrEqual(12);
  }
  expect([kept('pending'), kept('99'), kept('91'), kept('80'), kept('0')]).toEqual([true, true, true, false, false]);
  expect(readDelivery(context, hook, '0')).toMatchObject({ status: 'ignored', id: '0' });
  expect(() => readDeliveryPayload(context, hook, '0')).toThrow(expect.objectContaining({ code: 'conflict' }));
});

it('many small old payloads are deleted before a large new one, in parts', () => {
  const { context } = openStorage();
  changed.maxStoredPayloadBytes = 5_000;
  changed.payloadRecountBytes = 1_000;
  changed.maxSweptRows = 4;
  for (let index = 0; index < 40; index += 1) acceptDelivery(context, ignored(`small-${index}`, textOf(100)));
  for (let index = 0; index < 10; index += 1) acceptDelivery(context, ignored(`large-${index}`, textOf(1_000)));
  for (let index = 0; index < 20; index += 1) acceptDelivery(context, ignored(`none-${index}`, ''));
  const { bytes } = context.sql.exec<{ bytes: number }>('SELECT sum(bytes) AS bytes FROM deliveries').one();
  expect(bytes).toBeLessThanOrEqual(5_000);
  expect(bytes).toBeGreaterThan(3_900);
});

it('the last run of a schedule is the newest that was not skipped', () => {
  const { context } = openStorage();
  expect(lastRunsOf(context, [nightly.name]).get(nightly.name)).toBeUndefined();
  acceptDelivery(context, run('1', 'own', { trigger: nightly }));
  acceptDelivery(context, { ...run('2', 'own', { trigger: nightly }), verdict: { become: 'skipped', reason: 'Busy.', warnings: [] } });
  expect(lastRunsOf(context, [nightly.name]).get(nightly.name)).toMatchObject({ id: '1', status: 'pending' });
});

it('ids and names with SQL or unusual characters are used literally', () => {
  const { context } = openStorage();
  for (const id of ["'; DROP TABLE deliveries; --", '%', '_', '\u0000', '😀', 'x'.repeat(limits.maxDeliveryIdLength)]) {
    expect(acceptDelivery(context, run(id)).isRepeat, id).toBe(false);
    expect(readDelivery(context, hook, id).id).toBe(id);
    expect(acceptDelivery(context, run(id, id, { turn: 'another' })).isRepeat, id).toBe(true);
  }
});
