/** `/v1/subscriptions`: who else is told how turns end, whoever began them. What became of each message is `callbacks.ts`. Secrets go in and never come out. */
import { z } from 'zod';
import { ResourceName } from '../../core/agent.ts';
import { CallbackTest } from '../../core/triggers/callbacks/callback.ts';
import { Subscription } from '../../core/triggers/callbacks/subscription.ts';
import { mountDocumentRoutes, shownWarnings } from '../document-routes.ts';
import { requireSameName } from '../documents.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';

const what = 'Subscriptions';
const name = ResourceName.meta({ example: 'operations' });

/** What GET shows may be sent back: `hasSecret` and `warnings` are taken and mean nothing. */
const SubscriptionInput = Subscription.safeExtend({
  hasSecret: z.boolean().optional().meta({ readOnly: true, description: 'Shown by GET; ignored here.' }),
  warnings: shownWarnings,
}).meta({ id: 'SubscriptionToWrite', example: Subscription.meta()?.example });

const { secret: _secret, ...shown } = Subscription.shape;
const SubscriptionView = z.object({ ...shown, name: ResourceName, hasSecret: z.boolean() }).meta({ id: 'SubscriptionView' });
const ReviewedSubscription = SubscriptionView.extend({ warnings: shownWarnings }).meta({ id: 'ReviewedSubscription' });

export function mountSubscriptions(app: App): void {
  mountDocumentRoutes(app, {
    kind: 'subscription',
    noun: 'subscription',
    tag: what,
    scopes: ['admin'],
    name,
    body: SubscriptionInput,
    view: SubscriptionView,
    reviewed: ReviewedSubscription,
    // None is stored without one.
    toView: ({ name, body }) => ({ ...body, name, hasSecret: true }),
    toDocument: (name, { hasSecret: _has, warnings: _warnings, ...document }) => {
      requireSameName(name, document);
      return { ...document, name };
    },
  });

  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/subscriptions/{subscription}/test',
      operationId: 'testSubscription',
      tag: what,
      summary: 'Send it a signed message of type `test`',
      description: 'Once, at once, also to one that is paused. It is not kept, and not tried again.',
      scopes: ['admin'],
      workspace: what,
      params: z.object({ subscription: name }),
      answers: { 200: { description: 'How it went.', schema: CallbackTest } },
    },
    async ({ c, services, principal, params }) => {
      return c.json(await services.triggers(principal.workspace).testSubscription(params.subscription));
    },
  );
}
