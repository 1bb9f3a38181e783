/**
 * Stores the deliveries that reach the object at the same time in one transaction: in a burst, a commit for each costs more than the
 * deliveries themselves. They are collected here and not by the isolate that receives the requests: there, a request would wait for a promise
 * of another request, and on a busy thread workerd tells it of the end many seconds late.
 */
import type { AcceptedDelivery, NewDelivery } from '../../../ports/triggers.ts';
import type { CatalogContext } from '../../context.ts';
import { acceptDelivery } from './deliveries.ts';

/** Bounds how long one transaction blocks the object. */
const maxBatchDeliveries = 64;

export type DeliveryBatchesDeps = {
  /** Resolves when what was written is on the disk. The deliveries that arrive meanwhile are the next batch. */
  sync(): Promise<void>;
  /** Called for each new delivery, together with the transaction that stores it. */
  arrived(): void;
};

/** Returns `Triggers.acceptDelivery`. */
export function createDeliveryBatches(
  context: CatalogContext,
  { sync, arrived }: DeliveryBatchesDeps,
): (delivery: NewDelivery) => Promise<AcceptedDelivery> {
  const waiting: { delivery: NewDelivery; stored: PromiseWithResolvers<AcceptedDelivery> }[] = [];
  let isStoring = false;

  const storeNext = (): void => {
    const batch = waiting.splice(0, maxBatchDeliveries);
    try {
      const settlements = context.record(() =>
        batch.map(({ delivery, stored }) => {
          // One that cannot be stored does not affect the others.
          try {
            const accepted = acceptDelivery(context, delivery);
            return () => {
              if (!accepted.isRepeat) arrived();
              stored.resolve(accepted);
            };
          } catch (error) {
            return () => stored.reject(error);
          }
        }),
      );
      for (const settle of settlements) settle();
    } catch (error) {
      for (const { stored } of batch) stored.reject(error);
    }
  };

  const storeAll = async (): Promise<void> => {
    isStoring = true;
    while (waiting.length > 0) {
      storeNext();
      // If the disk has failed, the platform sends no response of this batch and ends the object.
      await sync().catch(() => undefined);
    }
    isStoring = false;
  };

  return async (delivery) => {
    const stored = Promise.withResolvers<AcceptedDelivery>();
    waiting.push({ delivery, stored });
    if (!isStoring) void storeAll();
    return await stored.promise;
  };
}
