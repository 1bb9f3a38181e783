/** Deliveries that arrive at the same time are stored together, each with its own outcome. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeliveryAcceptance } from '../../../../../src/objects/catalog/triggers/deliveries/deliveries.ts';
import { readDelivery } from '../../../../../src/objects/catalog/triggers/deliveries/delivery-list.ts';
import { limits } from '../../../../../src/core/limits/limits.ts';
import { hook, openStorage, run } from './deliveries-of.ts';
import { otherTasks } from '../../../../wait-for.ts';

const changed = limits as unknown as Record<string, number>;
const usual = { ...changed };
afterEach(() => void Object.assign(changed, usual));

/** `writes`: to the disk; the test ends them. */
function open() {
  const { context } = openStorage();
  const writes: PromiseWithResolvers<void>[] = [];
  const arrived = vi.fn<() => void>();
  const accept = createDeliveryAcceptance(context, {
    sync: () => {
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    },
    arrived,
  });
  return { context, writes, arrived, accept: (id: string, turn?: string) => accept(run(id, id, turn === undefined ? {} : { turn })) };
}
const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => String(from + index));

it('stores the first one at once, and those that arrive while the disk is written together after it', async () => {
  const { context, writes, arrived, accept } = open();
  const first = accept('1');
  await otherTasks();
  const others = ['2', '3', '4'].map((id) => accept(id));
  await otherTasks();
  expect(writes).toHaveLength(1);
  expect(readDelivery(context, hook, '1').id).toBe('1');
  expect(() => readDelivery(context, hook, '2')).toThrow('has no delivery');
  writes[0]?.resolve();
  expect((await first).isRepeat).toBe(false);
  await otherTasks();
  expect(writes).toHaveLength(2);
  expect(arrived).toHaveBeenCalledTimes(4);
  writes[1]?.resolve();
  expect((await Promise.all(others)).map(({ id }) => id)).toEqual(['2', '3', '4']);
});

it('stores a large number in several transactions', async () => {
  const { context, writes, accept } = open();
  const transactions = vi.spyOn(context, 'record');
  const all = ids(1, 100).map((id) => accept(id));
  await otherTasks();
  // One for the group and one in it for each delivery.
  expect(transactions).toHaveBeenCalledTimes(1 + 64);
  writes[0]?.resolve();
  await otherTasks();
  writes[1]?.resolve();
  expect(await Promise.all(all)).toHaveLength(100);
  expect(transactions).toHaveBeenCalledTimes(2 + 100);
});

it('refuses one without the others, and does not announce a repeat', async () => {
  const { writes, arrived, accept } = open();
  const first = accept('1');
  await otherTasks();
  writes[0]?.resolve();
  await first;
  changed.maxPendingDeliveries = 4;
  const all = Promise.allSettled(['2', '3', '1'].map((id) => accept(id, `another turn of ${id}`)));
  await otherTasks();
  writes[1]?.resolve();
  expect(await all).toMatchObject([
    { status: 'fulfilled', value: { id: '2' } },
    { status: 'rejected', reason: { code: 'rate_limited' } },
    { status: 'fulfilled', value: { id: '1', isRepeat: true } },
  ]);
  expect(arrived).toHaveBeenCalledTimes(2);
});

it('fails a group whose transaction fails, and continues with the next', async () => {
  const { context, writes, arrived, accept } = open();
  vi.spyOn(context, 'record').mockImplementationOnce(() => {
    throw new Error('the disk is full');
  });
  await expect(accept('1')).rejects.toThrow('the disk is full');
  const next = accept('2');
  await otherTasks();
  writes[0]?.resolve();
  expect((await next).id).toBe('2');
  expect(arrived).toHaveBeenCalledTimes(1);
});
