/** Handlers of triggers: deliveries, schedule runs and outgoing callbacks. */
import { failpoint } from '../../core/failpoint.ts';
import { type Outcome, Problem } from '../../core/problem.ts';
import type { AcceptedDelivery } from '../../ports/triggers.ts';
import type { CatalogContext } from '../context.ts';
import { enqueueCallbacks, listCallbacks, readCallback, retryCallback } from '../triggers/callbacks/callbacks.ts';
import { requireNotDeleted } from '../records/erasure.ts';
import { acceptDelivery, followTurn, replayDelivery } from '../triggers/deliveries/deliveries.ts';
import { listDeliveries, listWebhookDeliveries, readDelivery, readDeliveryPayload } from '../triggers/deliveries/delivery-list.ts';
import { addRefusals, listRefusals } from '../triggers/deliveries/refusals.ts';
import { requireDelivery, toDelivery } from '../triggers/deliveries/delivery-rows.ts';
import type { CatalogHandlers } from './catalog-handlers.ts';

export const triggerHandlers = {
  acceptDeliveries: async ({ context, triggers }, deliveries) => {
    const outcomes = context.record(() => deliveries.map((delivery) => orProblem(context, () => acceptDelivery(context, delivery))));
    // Atomically with the deliveries, the alarm that dispatches them is stored.
    for (const outcome of outcomes) if (outcome.ok && !outcome.value.isRepeat) triggers.dispatcher.arrived();
    await failpoint('webhook-before-200');
    return outcomes;
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

/** One delivery that cannot be stored must not affect the others of its batch. */
function orProblem(context: CatalogContext, accept: () => AcceptedDelivery): Outcome<AcceptedDelivery> {
  try {
    return { ok: true, value: accept() };
  } catch (error) {
    if (!(error instanceof Problem)) context.log.error('a delivery could not be stored', { cause: String(error) });
    const problem = error instanceof Problem ? error : new Problem('internal', 'The delivery could not be stored.');
    return { ok: false, problem: problem.toBody() };
  }
}
