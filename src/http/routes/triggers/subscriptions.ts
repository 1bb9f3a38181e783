/**
 * `/v1/subscriptions`: additional receivers of turn events, for all turns. `callbacks.ts` shows the messages. Secrets can be written but
 * not read.
 */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { CallbackTest, Subscription } from '../../../core/triggers/callbacks/callback.ts';
import { defineRoute } from '../../route.ts';
import { documentRoutes, shownWarnings } from '../../document-routes.ts';
import { storedBody } from '../../conditions.ts';

const what = 'Subscriptions';
const name = ResourceName.meta({ example: 'operations' });

/** The output of GET can be sent back: `hasSecret` and `warnings` are accepted and ignored. */
const SubscriptionInput = Subscription.safeExtend({
  hasSecret: z.boolean().optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
  warnings: shownWarnings,
}).meta({ id: 'SubscriptionToWrite', example: Subscription.meta()?.example });

const { secret: _secret, ...shown } = Subscription.shape;
const SubscriptionView = z.object({ ...shown, name: ResourceName, hasSecret: z.boolean() }).meta({ id: 'SubscriptionView' });

export const subscriptionRoutes = [
  ...documentRoutes({
    kind: 'subscription',
    noun: 'subscription',
    tag: what,
    scopes: ['admin'],
    name,
    body: SubscriptionInput,
    view: SubscriptionView,
    unshown: { kept: ['secret'] },
    warnings: shownWarnings,
    // A subscription always has a secret.
    toView: (document) => ({ ...storedBody<z.input<typeof SubscriptionView>>(document), name: document.name, hasSecret: true }),
    shown: ['hasSecret'],
    storesName: true,
  }),

  defineRoute(
    {
      method: 'post',
      path: '/v1/subscriptions/{subscription}/test',
      operationId: 'testSubscription',
      tag: what,
      summary: 'Send a signed test message',
      description:
        'Sends one message of type `test` immediately, also if the subscription is paused. It is not stored and not retried. Returns 403 for a key with `egressHosts`, `ips` or `models`.',
      scopes: ['admin'],
      workspace: what,
      params: z.object({ subscription: name }),
      answers: { 200: { description: 'The result.', schema: CallbackTest } },
    },
    async ({ answer, services, principal, params }) => {
      return answer(200, await services.storedWork(principal).testSubscription(params.subscription));
    },
  ),
];
