/** `/v1/callbacks`: every outgoing message with its attempts, and manual retries. */
import * as z from 'zod';
import { ResourceName } from '../../../core/turn/agent.ts';
import { limits } from '../../../core/limits/limits.ts';
import { Callback, CallbackStatus, CallbackTargetKind, CallbackWithBody } from '../../../core/triggers/callbacks/callback.ts';
import { pageFields, pageOf } from '../../paging.ts';
import { defineRoute } from '../../route.ts';

const common = { tag: 'Callbacks', scopes: ['admin'], workspace: 'Callbacks' } as const;

const CallbackList = z
  .strictObject({
    ...pageFields,
    status: CallbackStatus.optional().meta({ description: '`dead`: it could not be delivered, and is not retried automatically.' }),
    kind: CallbackTargetKind.optional().meta({ description: 'Kind of the trigger or subscription that it is sent for.' }),
    name: ResourceName.optional().meta({ description: 'Name of the webhook, schedule or subscription; requires `kind`.' }),
    delivery: z.string().min(1).max(limits.maxDeliveryIdLength).optional().meta({ description: 'Id of its delivery.' }),
  })
  .refine(({ kind, name }) => name === undefined || kind !== undefined, { path: ['kind'], message: 'is required with name' });

const params = z.object({
  callback: z.string().min(1).max(100).meta({ description: 'Id of the callback, as in its `webhook-id` header.', example: 'msg_0123' }),
});

export const callbackRoutes = [
  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/callbacks',
      operationId: 'listCallbacks',
      summary: 'List callbacks, newest first',
      query: CallbackList,
      answers: { 200: { description: 'A page of callbacks, with their attempts.', schema: pageOf(Callback) } },
    },
    async ({ answer, services, principal, query }) => answer(200, await services.triggers(principal.workspace).callbacks(query)),
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/callbacks/{callback}',
      operationId: 'getCallback',
      summary: 'Read a callback with its body',
      params,
      answers: { 200: { description: 'The callback.', schema: CallbackWithBody } },
    },
    async ({ answer, services, principal, params }) => {
      return answer(200, await services.triggers(principal.workspace).callback(params.callback));
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/callbacks/{callback}/retry',
      operationId: 'retryCallback',
      summary: 'Retry a callback now',
      description:
        'For a dead callback, or one that waits for its next attempt. Returns 409 if it was delivered, and 403 for a key with `egressHosts`, `ips` or `models`.',
      params,
      answers: { 202: { description: 'The attempt was queued.', schema: Callback } },
      problems: ['conflict'],
    },
    async ({ answer, services, principal, params }) => {
      return answer(202, await services.storedWork(principal).retryCallback(params.callback));
    },
  ),
];
