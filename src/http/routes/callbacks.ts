/** `/v1/callbacks`: every message to somebody outside, with its attempts, and one more try of those that were not taken. */
import { z } from 'zod';
import { ResourceName } from '../../core/agent.ts';
import { limits } from '../../core/limits.ts';
import { Callback, CallbackStatus, CallbackTargetKind, CallbackWithBody } from '../../core/triggers/callbacks/callback.ts';
import { pageFields, pageOf } from '../paging.ts';
import { mountRoute } from '../route.ts';
import type { App } from '../route.ts';

const what = 'Callbacks';

const CallbackList = z
  .strictObject({
    ...pageFields,
    status: CallbackStatus.optional().meta({ description: '`dead`: nobody took it, and it is not sent again by itself.' }),
    kind: CallbackTargetKind.optional().meta({ description: 'Of what it is sent for.' }),
    name: ResourceName.optional().meta({ description: 'Of the webhook, schedule or subscription; with `kind`.' }),
    delivery: z.string().min(1).max(limits.maxDeliveryIdLength).optional().meta({ description: 'Id of the delivery that it is about.' }),
  })
  .refine(({ kind, name }) => name === undefined || kind !== undefined, { path: ['kind'], message: 'goes with name' });

const params = z.object({ callback: z.string().min(1).max(100).meta({ description: 'As in `webhook-id`.', example: 'msg_0123' }) });

export function mountCallbacks(app: App): void {
  mountRoute(
    app,
    {
      method: 'get',
      path: '/v1/callbacks',
      operationId: 'listCallbacks',
      tag: what,
      summary: 'List what was told to others, newest first',
      scopes: ['admin'],
      workspace: what,
      query: CallbackList,
      answers: { 200: { description: 'A page of messages, with their attempts.', schema: pageOf(Callback) } },
    },
    async ({ c, services, principal, query }) => c.json(await services.triggers(principal.workspace).callbacks(query)),
  );

  mountRoute(
    app,
    {
      method: 'get',
      path: '/v1/callbacks/{callback}',
      operationId: 'getCallback',
      tag: what,
      summary: 'Read one, with what it says',
      scopes: ['admin'],
      workspace: what,
      params,
      answers: { 200: { description: 'The message.', schema: CallbackWithBody } },
    },
    async ({ c, services, principal, params }) => {
      return c.json(await services.triggers(principal.workspace).callback(params.callback));
    },
  );

  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/callbacks/{callback}/retry',
      operationId: 'retryCallback',
      tag: what,
      summary: 'Send it once more, now',
      description: 'A dead one, or one that waits for its next attempt. 409 for one that was delivered.',
      scopes: ['admin'],
      workspace: what,
      params,
      answers: { 202: { description: 'It is on its way.', schema: Callback } },
      problems: ['conflict'],
    },
    async ({ c, services, principal, params }) => {
      return c.json(await services.triggers(principal.workspace).retryCallback(params.callback), 202);
    },
  );
}
