/** Handlers of triggers: deliveries, schedule runs and outgoing callbacks. */
import { failpoint } from '../../../core/failpoint.ts';
import { enqueueCallbacks, listCallbacks, readCallback, retryCallback } from '../triggers/callbacks/callbacks.ts';
import { requireNotDeleted } from '../records/erasure.ts';
import { followTurn, replayDelivery } from '../triggers/deliveries/deliveries.ts';
import { listDeliveries, listWebhookDeliveries, readDelivery, readDeliveryPayload } from '../triggers/deliveries/delivery-list.ts';
import { addRefusals, listRefusals } from '../triggers/deliveries/refusals.ts';
import { requireDelivery, toDelivery } from '../triggers/deliveries/delivery-rows.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const triggerHandlers = {
  acceptDelivery: async ({ triggers }, delivery) => {
    const accepted = await triggers.accept(delivery);
    await failpoint('webhook-before-200');
    return accepted;
  },
  waitUntilDispatched: async ({ context, triggers }, trigger, id, waitMs) => {
    await triggers.dispatcher.untilTaken(trigger, id, waitMs);
    return toDelivery(requireDelivery(context.sql, trigger, id));
  },
  deliveries: ({ context }, trigger, query) => {
    requireNotDeleted(context, trigger);
    return listDeliveries(context, trigger, query);
  },
  webhookDeliveries: ({ context }, query) => ({ ...listWebhookDeliveries(context, query), refused: listRefusals(context, query) }),
  addRefusals: ({ context }, refusals) => context.record(() => addRefusals(context, refusals)),
  delivery: ({ context }, trigger, id) => {
    requireNotDeleted(context, trigger);
    return readDelivery(context, trigger, id);
  },
  storedPayload: ({ context }, trigger, id) => {
    requireNotDeleted(context, trigger);
    return readDeliveryPayload(context, trigger, id);
  },
  replayDelivery: ({ context, triggers }, trigger, id, verdict) => {
    requireNotDeleted(context, trigger);
    const accepted = replayDelivery(context, trigger, id, verdict);
    triggers.dispatcher.kick();
    return accepted;
  },
  noteTurns: ({ context, triggers }, notices) => {
    const moved = context.record(() =>
      notices.flatMap((notice) => {
        enqueueCallbacks(context, notice);
        const number = notice.trigger === undefined ? null : followTurn(context, notice.trigger, notice);
        return number === null ? [] : [number];
      }),
    );
    // A run that waited for the end of this turn may be due now.
    triggers.dispatcher.kick(moved);
    triggers.callbacks.kick();
  },
  callbacks: ({ context }, query) => listCallbacks(context, query),
  callback: ({ context }, id) => readCallback(context, id),
  retryCallback: ({ context, triggers }, id) => {
    const callback = retryCallback(context, id);
    triggers.callbacks.kick();
    return callback;
  },
  testSubscription: ({ triggers }, subscription) => triggers.callbacks.test({ kind: 'subscription', name: subscription }),
  runSchedule: ({ triggers }, schedule) => triggers.scheduler.runNow(schedule),
} satisfies Partial<CatalogHandlers>;
