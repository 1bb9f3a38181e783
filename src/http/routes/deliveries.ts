/**
 * `/v1/webhooks/{webhook}/deliveries`: what came and what became of it, and running one again. Those of a webhook that was removed can
 * still be read. Ids are the senders' own and may hold any characters, in paths URL-encoded.
 */
import { z } from 'zod';
import { DeliveryStatus, DeliveryWithPayload } from '../../core/triggers/delivery.ts';
import type { Trigger } from '../../core/triggers/delivery.ts';
import { renderReplay } from '../../engine/triggers/render-replay.ts';
import { pageFields, pageOf } from '../paging.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';
import { Accepted, acceptedResponse } from '../accepted-delivery.ts';
import { webhookParams } from './webhooks.ts';

const params = webhookParams.extend({
  delivery: z.string().meta({ description: 'Its id, URL-encoded.', example: '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
});
const query = z.strictObject({ ...pageFields, status: DeliveryStatus.optional().meta({ description: 'Only those that stand so.' }) });

const common = { tag: 'Webhooks', scopes: ['admin'], workspace: 'Deliveries' } as const;

export function mountDeliveries(app: App): void {
  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/webhooks/{webhook}/deliveries',
      operationId: 'listDeliveries',
      summary: 'List what came, newest first',
      params: webhookParams,
      query,
      answers: { 200: { description: 'A page of deliveries.', schema: pageOf(DeliveryWithPayload) } },
    },
    async ({ c, services, principal, params, query }) => {
      const { status, cursor, limit } = query;
      const page = { limit, ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) };
      const found = await services.triggers(principal.workspace).deliveries(triggerOf(params.webhook), page);
      // Nothing may be because there is no such webhook: a misspelt name is told as one.
      if (found.items.length === 0) await services.catalog(principal).get('webhook', params.webhook);
      return c.json(found, 200);
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'get',
      path: '/v1/webhooks/{webhook}/deliveries/{delivery}',
      operationId: 'getDelivery',
      summary: 'Read one delivery',
      params,
      answers: { 200: { description: 'What came, and how it stands.', schema: DeliveryWithPayload } },
    },
    async ({ c, services, principal, params }) => {
      return c.json(await services.triggers(principal.workspace).delivery(triggerOf(params.webhook), params.delivery), 200);
    },
  );

  mountRoute(
    app,
    {
      ...common,
      method: 'post',
      path: '/v1/webhooks/{webhook}/deliveries/{delivery}/replay',
      operationId: 'replayDelivery',
      summary: 'Run a delivery again',
      description:
        'With the templates as they are now; the filter is not asked, and a paused webhook does not mind. It is `conflict` while its turn is under way, and once its payload is no longer kept.',
      params,
      answers: {
        202: { description: 'Stored; its turn begins.', schema: Accepted, headers: { location: 'Of the session, where there is one.' } },
      },
      problems: ['conflict', 'rate_limited'],
    },
    async ({ c, services, principal, params }) => {
      const { workspace } = principal;
      const trigger = triggerOf(params.webhook);
      const document = await services.catalog(workspace).get('webhook', params.webhook);
      const triggers = services.triggers(workspace);
      const kept = await triggers.storedPayload(trigger, params.delivery);
      const verdict = await renderReplay(services, { workspace, trigger }, document, kept);
      return acceptedResponse(c, await triggers.replayDelivery(trigger, params.delivery, verdict));
    },
  );
}

function triggerOf(name: string): Trigger {
  return { kind: 'webhook', name };
}
