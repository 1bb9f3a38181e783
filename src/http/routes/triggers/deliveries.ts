/**
 * `/v1/deliveries` lists those of all webhooks. `/v1/webhooks/{webhook}/deliveries`: received deliveries with their outcomes, and replays. Deliveries of a removed webhook can still be
 * read. Ids come from the senders and may contain any characters, URL-encoded in paths.
 */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { DeliveryStatus, DeliveryWithPayload, RefusedDeliveries, WebhookDelivery } from '../../../core/triggers/delivery.ts';
import type { Trigger } from '../../../core/turn/turn-trigger.ts';
import { renderReplay } from '../../../engine/triggers/render-event.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';
import { acceptedAnswer, acceptedHeaders, toAcceptedBody } from './accepted-delivery.ts';
import { webhookParams } from './webhooks.ts';

const params = webhookParams.extend({
  delivery: z.string().meta({ description: 'Id of the delivery, URL-encoded.', example: '72d3162e-cc78-11e3-81ab-4c9367dc0958' }),
});
const query = z.strictObject({
  ...pageFields,
  status: DeliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
});

const common = { tag: 'Webhooks', scopes: ['admin'], workspace: 'Deliveries' } as const;

export const deliveryRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/deliveries',
      operationId: 'listAllDeliveries',
      summary: 'List deliveries of all webhooks, newest first',
      description: 'Without payloads. A filtered page may have fewer items than `limit` although more follow.',
      query: query.extend({
        webhook: ResourceName.optional().meta({ description: 'Only deliveries to this webhook.' }),
        from: z.iso.datetime().optional().meta({ description: 'Only deliveries that were received at or after this time.' }),
      }),
      answers: {
        200: {
          description: 'A page of deliveries.',
          schema: pageOf(WebhookDelivery).extend({
            refused: z.array(RefusedDeliveries).meta({
              description: 'Requests to the same webhooks without a valid signature, by day, newest first; 30 days, at most 200 rows.',
            }),
          }),
        },
      },
    },
    async ({ answer, services, principal, query }) => {
      const from = query.from === undefined ? undefined : Date.parse(query.from);
      return answer(200, await services.triggers(principal.workspace).webhookDeliveries({ ...query, from }));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/webhooks/{webhook}/deliveries',
      operationId: 'listDeliveries',
      summary: 'List deliveries, newest first',
      params: webhookParams,
      query,
      answers: { 200: { description: 'A page of deliveries.', schema: pageOf(DeliveryWithPayload) } },
    },
    async ({ answer, services, principal, params, query }) => {
      const found = await services.triggers(principal.workspace).deliveries(triggerOf(params.webhook), query);
      // An empty list may mean that the webhook does not exist, which is then reported.
      if (found.items.length === 0) await services.catalog(principal).get('webhook', params.webhook);
      return answer(200, found);
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/webhooks/{webhook}/deliveries/{delivery}',
      operationId: 'getDelivery',
      summary: 'Read one delivery',
      params,
      answers: { 200: { description: 'The delivery with its payload and status.', schema: DeliveryWithPayload } },
    },
    async ({ answer, services, principal, params }) => {
      return answer(200, await services.triggers(principal.workspace).delivery(triggerOf(params.webhook), params.delivery));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/webhooks/{webhook}/deliveries/{delivery}/replay',
      operationId: 'replayDelivery',
      summary: 'Replay a delivery',
      description:
        'Uses the current templates, ignores the filter, and also works for a paused webhook. Returns `conflict` while its turn is in progress, and if its payload is no longer stored; 403 for a key with `egressHosts`, `ips` or `models`.',
      params,
      answers: {
        202: acceptedAnswer,
      },
      problems: ['conflict', 'rate_limited'],
    },
    async ({ answer, services, principal, params }) => {
      const { workspace } = principal;
      const trigger = triggerOf(params.webhook);
      const document = await services.catalog(workspace).get('webhook', params.webhook);
      const kept = await services.triggers(workspace).storedPayload(trigger, params.delivery);
      const verdict = await renderReplay(services, { workspace, trigger }, document, kept);
      const accepted = await services.storedWork(principal).replayDelivery(trigger, params.delivery, verdict);
      return answer(202, toAcceptedBody(accepted), acceptedHeaders(accepted));
    },
  ),
];

function triggerOf(name: string): Trigger {
  return { kind: 'webhook', name };
}
