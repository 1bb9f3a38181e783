/** Deliveries that arrive at the same time are stored together, each with its own outcome. */
import { afterEach, expect, it, vi } from 'vitest';
import { createDeliveryBatches } from '../../../../src/catalog/triggers/deliveries/delivery-batches.ts';
import { readDelivery } from '../../../../src/catalog/triggers/deliveries/delivery-list.ts';
import { limits } from '../../../../src/core/limits.ts';
import { hook, openStorage, run } from './deliveries-of.ts';

const changed = limits as unknown as Record<string, number>;
const usual = { ...changed };
afterEach(() => void Object.assign(changed, usual));

/** `writes`: to the disk; the test ends them. */
function open() {
  const { context } = openStorage();
  const writes: PromiseWithResolvers<void>[] = [];
  const arrived = vi.fn<() => void>();
  const accept = createDeliveryBatches(context, {
    sync: () => {
      const write = Promise.withResolvers<void>();
      writes.push(write);
      return write.promise;
    },
    arrived,
  });
  return { context, writes, arrived, accept: (id: string, turn?: string) => accept(run(id, id, turn === undefined ? {} : { turn })) };
}
const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
const ids = (from: number, count: number): string[] => Array.from({ length: count }, (_, index) => String(from + index));

it('stores the first one at once, and those that arrive while the disk is written together after it', async () => {
  const { context, writes, arrived, accept } = open();
  expect((await accept('1')).isRepeat).toBe(false);
  const others = ['2', '3', '4'].map((id) => accept(id));
  await settle();
  expect(writes).toHaveLength(1);
  expect(() => readDelivery(context, hook, '2')).toThrow('has no delivery');
  writes[0]?.resolve();
  expect((await Promise.all(others)).map(({ id }) => id)).toEqual(['2', '3', '4']);
  expect(writes).toHaveLength(2);
  expect(arrived).toHaveBeenCalledTimes(4);
  writes[1]?.resolve();
  await settle();
  expect(writes).toHaveLength(2);
  expect((await accept('5')).id).toBe('5');
});

it('stores a large number in several transactions', async () => {
  const { context, writes, accept } = open();
  const transactions = vi.spyOn(context, 'record');
  await accept('0');
  transactions.mockClear();
  const all = ids(1, 100).map((id) => accept(id));
  writes[0]?.resolve();
  await settle();
  // One for the batch and one in it for each delivery.
  expect(transactions).toHaveBeenCalledTimes(1 + 64);
  writes[1]?.resolve();
  expect(await Promise.all(all)).toHaveLength(100);
  expect(transactions).toHaveBeenCalledTimes(2 + 100);
});

it('refuses one without the others, and does not announce a repeat', async () => {
  const { writes, arrived, accept } = open();
  await accept('1');
  changed.maxPendingDeliveries = 4;
  const [stored, refused, repeat] = ['2', '3', '1'].map((id) => accept(id, `another turn of ${id}`));
  writes[0]?.resolve();
  expect((await stored)?.id).toBe('2');
  await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await repeat).toMatchObject({ id: '1', isRepeat: true });
  expect(arrived).toHaveBeenCalledTimes(2);
});

it('fails a batch whose transaction fails, and goes on with the next', async () => {
  const { context, writes, arrived, accept } = open();
  vi.spyOn(context, 'record').mockImplementationOnce(() => {
    throw new Error('the disk is full');
  });
  await expect(accept('1')).rejects.toThrow('the disk is full');
  const next = accept('2');
  writes[0]?.reject(new Error('the disk is full'));
  expect((await next).id).toBe('2');
  expect(arrived).toHaveBeenCalledTimes(1);
});
