/** `/v1/messages/batches` of Anthropic's API, passed to a provider of that API (`providers/passed/message-batch.ts`). */
import * as z from 'zod';
import { stringOf } from '../../../core/json/wire-value.ts';
import { limits } from '../../../core/limits/limits.ts';
import { requireAllowed } from '../../../core/people/authority.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { maxListedItems } from '../../../providers/passed/own-items.ts';
import { defineRoute } from '../../route.ts';
import { anthropicHeaders } from './count-tokens.ts';
import { ownUrlOf, PassedId, passContent, passItem } from './passed-files.ts';

const MessageBatch = z
  .looseObject({ id: z.string(), type: z.string(), processing_status: z.string().optional(), results_url: z.string().nullish() })
  .meta({ id: 'MessageBatch' });
const MessageBatchRequest = z
  .looseObject({
    requests: z.array(z.looseObject({ custom_id: z.string(), params: z.looseObject({ model: z.string() }) })).min(1),
  })
  .meta({
    id: 'MessageBatchRequest',
    example: { requests: [{ custom_id: 'first', params: { model: 'anthropic/claude-opus-5-5', max_tokens: 1024, messages: [] } }] },
  });
const MessageBatchPage = z
  .looseObject({
    data: z.array(MessageBatch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: 'MessageBatchPage' });
const cursor = z.string().min(1).max(1_024).optional();
const ListQuery = z.strictObject({
  after_id: cursor.meta({ description: 'Continues after this batch, with older ones.' }),
  before_id: cursor.meta({ description: 'Those that are newer than this batch.' }),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(20)
    .meta({
      description: `A page has at most ${maxListedItems}: \`has_more\` says whether there are more.`,
    }),
});

const path = '/v1/messages/batches';
const common = {
  tag: 'Anthropic',
  scopes: ['chat'],
  query: 'ignored',
  headers: { 'anthropic-version': 'Passed on.', 'anthropic-beta': 'Passed on.' },
  problems: ['model_not_found', 'not_found', 'rate_limited', 'upstream_error', 'upstream_timeout', 'loop_detected'],
} as const;
const ofProvider = 'Passed to the provider that has the batch, of kind `anthropic`. Ids are for the key that got them.';
const answers = { 200: { description: 'The batch, of the provider.', schema: MessageBatch, contentType: 'application/json' } };
const of = 'messages/batches';

export const messageBatchRoutes = [
  defineRoute(
    {
      ...{ ...common, method: 'post', path, operationId: 'createMessageBatch', summary: 'Create a batch of messages' },
      description:
        'Passed to the provider of its models, of kind `anthropic`. Each request names a model or an alias of one; the key must be allowed to use all of them, and they must be of one provider. Agents and toolsets are not used. Keys, agents and workspaces with limits of tokens or cost cannot create batches.',
      body: { schema: MessageBatchRequest, maxBytes: limits.maxMessagesBodyBytes },
      answers,
    },
    (request) => passItem(request, { of, method: 'POST', body: request.body, headers: anthropicHeaders(request.c) }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path, operationId: 'listMessageBatches', summary: 'List the batches of messages of the key' },
      description: 'Lists what this key made, newest first, at all of its providers.',
      query: ListQuery,
      answers: {
        200: {
          description: 'What this key made, as its providers have it now.',
          schema: MessageBatchPage,
          contentType: 'application/json',
        },
      },
    },
    async ({ c, services, principal, query, answer }) => {
      requireAllowed(principal, { act: 'use-model' });
      const { after_id: after, before_id: before, limit } = query;
      if (after !== undefined && before !== undefined)
        throw invalidRequest([{ path: 'before_id', message: 'cannot be sent with after_id' }]);
      const own = { ownUrl: ownUrlOf({ c, services }), requestId: c.get('requestId') };
      const { data, hasMore } = await services.listPassed(principal, { of, after, before, limit, order: 'desc', ...own });
      const ids = data.map(({ id }) => stringOf(id));
      // The documents of the provider, which are not checked here.
      const batches = data as z.infer<typeof MessageBatch>[];
      return answer(200, { data: batches, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null, has_more: hasMore });
    },
  ),
  defineRoute(
    {
      ...{ ...common, method: 'get', path: `${path}/{id}`, operationId: 'getMessageBatch', summary: 'Read a batch of messages' },
      ...{ description: ofProvider, params: PassedId, answers },
    },
    (request) => passItem(request, { of, method: 'GET', id: request.params.id, headers: anthropicHeaders(request.c) }),
  ),
  defineRoute(
    {
      ...{
        ...common,
        method: 'get',
        path: `${path}/{id}/results`,
        operationId: 'getMessageBatchResults',
        summary: 'Read the results of a batch',
      },
      ...{ description: ofProvider, params: PassedId },
      answers: { 200: { description: 'A line of JSON for each request.', contentType: '*/*' } },
    },
    (request) =>
      passContent(request, { of, method: 'GET', id: request.params.id, action: 'results', headers: anthropicHeaders(request.c) }),
  ),
  defineRoute(
    {
      ...{
        ...common,
        method: 'post',
        path: `${path}/{id}/cancel`,
        operationId: 'cancelMessageBatch',
        summary: 'Cancel a batch of messages',
      },
      ...{ description: ofProvider, params: PassedId, answers },
    },
    (request) => passItem(request, { of, method: 'POST', id: request.params.id, action: 'cancel', headers: anthropicHeaders(request.c) }),
  ),
  defineRoute(
    {
      ...{ ...common, method: 'delete', path: `${path}/{id}`, operationId: 'deleteMessageBatch', summary: 'Delete a batch of messages' },
      ...{ description: ofProvider, params: PassedId, answers },
    },
    (request) => passItem(request, { of, method: 'DELETE', id: request.params.id, headers: anthropicHeaders(request.c) }),
  ),
];
