/**
 * `/v1/responses`: the endpoint of stock OpenAI clients (`chat.ts`); earlier responses, from any event on; and cancellation. Responses
 * stored by a provider are available here if they run in the background, or if the request said `store: true`. `response-input.ts` has the work on the input of a response.
 */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { openAiResponses } from '../../../dialects/openai-responses/dialect.ts';
import { ResponsesRequest } from '../../../dialects/openai-responses/request.ts';
import { readCompletionId } from '../../../core/text/reference.ts';
import { requireStream } from '../../places.ts';
import { OpenAiErrorSchema } from '../../problem-schema.ts';
import { defineRoute, type RouteRequest } from '../../route.ts';
import type { HttpServices } from '../../services.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';
import { ItemPage, ItemsQuery, readItemPage } from './conversation-items.ts';
import { connectResponses } from './responses-socket.ts';
import { responseInputRoutes } from './response-input.ts';
import { answerFromCompletion, readStoredPlace, requireCompletion, storedCompletionRoute } from './stored-completion.ts';

const ResponseObject = z
  .looseObject({
    id: z.string(),
    object: z.literal('response'),
    status: z.string(),
    output: z
      .array(z.looseObject({ type: z.string() }))
      .optional()
      .meta({ description: 'Messages, reasoning, calls of the caller’s own tools, and requests for approval.' }),
  })
  .meta({ id: 'Response' });
const ResponseEvent = z.looseObject({ type: z.string(), sequence_number: z.int().optional() }).meta({ id: 'ResponseEvent' });

const responseAnswer = chatAnswer({
  what: 'Response',
  frame: 'event',
  schema: ResponseObject,
  events: ResponseEvent,
  forks: 'the request continues from an older response, or the items differ',
  uses: 'GET /v1/responses/{id} and `previous_response_id`',
});
const common = { tag: 'OpenAI', scopes: ['chat'], answers: { 200: responseAnswer } } as const;
const DeletedResponse = z.looseObject({ id: z.string(), object: z.string(), deleted: z.literal(true) }).meta({ id: 'DeletedResponse' });

/** Parameters such as `include` are accepted and ignored. */
const RetrieveQuery = storedCompletionRoute.query.loose().extend({
  stream: z.enum(['true', 'false']).optional().meta({ description: '`true`: return its events.' }),
  starting_after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The `sequence_number` of the last received event. Send either this or `after`.', example: '12' }),
});

export const responsesRoutes = [
  ...responseInputRoutes,
  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/responses',
      operationId: 'createResponse',
      summary: 'Create a response (OpenAI)',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker, and `output` contains the text and calls of the caller’s own `tools`: send their outputs with `previous_response_id`, with the preceding items, or alone with the session. `previous_response_id` names a response of a session: the newest is continued in the same session, an older one in a new session. If a call requires approval, the response ends with a sentence that names it and an `mcp_approval_request` item, and the next request continues; an `mcp_approval_response` item in it decides, with the scope `approve`, and returns `conflict` if the call was decided otherwise. Otherwise the request is sent to the provider: unchanged if it supports Responses, otherwise translated. Tools that the client runs and that have items of their own (`local_shell`, `shell`, `apply_patch`, `tool_search` with `execution: client`) are functions for other APIs, and their calls come back as those items. `conversation` names one of `POST /v1/conversations`. `background` returns at once: the turn runs in a session, also with a provider’s model, or at the provider if only that can run it, and GET reads the response. `prompt`, conversations of OpenAI and tools that only OpenAI runs are rejected unless the request is passed on unchanged. Errors have the OpenAI format.',
      query: 'ignored',
      headers: chatHeaders({ parts: 'Items', leads: '`previous_response_id` and the ids of calls' }),
      body: { documented: ResponsesRequest, maxBytes: limits.maxLargeBodyBytes },
      problems: chatProblems,
    },
    (request) => answerChat(openAiResponses, request),
  ),

  defineRoute(
    {
      tag: 'OpenAI',
      scopes: ['chat'],
      method: 'get',
      path: '/v1/responses',
      operationId: 'connectResponses',
      summary: 'Create responses over a WebSocket (OpenAI)',
      description:
        'The WebSocket mode of the Responses API. Each message of the client is `{"type": "response.create"}` with the fields of `POST /v1/responses`, apart from `stream` and `background`; it is answered like that request, one after another, with each event as a message. `previous_response_id` may name the last response of the connection, also with `store: false`. `generate: false` keeps the input for the next request without a reply. The first event of a reply has `headers`: those of its HTTP response that begin with `x-moniker-`. Failures are `{"type": "error", "status", "error", "headers"}`. Requires a bearer key; cookies are not sufficient.',
      query: 'ignored',
      headers: chatHeaders({ parts: 'Items', leads: '`previous_response_id` and the ids of calls' }),
      answers: {
        101: { description: 'The WebSocket is open.' },
        426: {
          description: 'The request is no upgrade, or this installation has no WebSockets.',
          contentType: 'application/json',
          schema: OpenAiErrorSchema,
        },
      },
    },
    (request) => connectResponses(request.c),
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/responses/{id}',
      operationId: 'getResponse',
      summary: 'Read a stored response',
      description:
        'For responses of a session, and for those that a provider runs in the background, for an hour. Returns a document when it has ended, and at once if it was requested in the background; with `stream=true`, `starting_after`, `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its events after the given one, byte for byte as first sent.',
      ...storedCompletionRoute,
      query: RetrieveQuery,
    },
    async (request) => {
      const { c, params, query } = request;
      const { stream, starting_after: startingAfter } = query;
      if (startingAfter !== undefined && query.after !== undefined)
        throw invalidRequest([{ path: 'starting_after', message: 'and `after` cannot be combined: send only one of them' }]);
      const place = readStoredPlace(c, query.after);
      const streamed = stream === 'true' || startingAfter !== undefined || place.streamed;
      const passed = await askProvider(
        request,
        'read',
        streamed ? `?stream=true${startingAfter === undefined ? '' : `&starting_after=${startingAfter}`}` : '',
      );
      if (passed !== null) return passed;
      const completion = requireCompletion('openai-responses', params.id);
      // The query parameter takes precedence over the header.
      return await answerFromCompletion(
        request,
        completion,
        startingAfter === undefined ? { ...place, streamed } : { streamed, startingAfter },
      );
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'post',
      path: '/v1/responses/{id}/cancel',
      storesNothing: true,
      operationId: 'cancelResponse',
      summary: 'Cancel a response',
      description:
        'Ends its turn immediately, also while it waits, and returns the response with its output so far. A completed response is returned unchanged.',
      params: storedCompletionRoute.params,
      problems: [...storedCompletionRoute.problems, 'conflict'],
    },
    async (request) => {
      const { services, principal, params } = request;
      const passed = await askProvider(request, 'cancel', '');
      if (passed !== null) return passed;
      const completion = requireCompletion('openai-responses', params.id);
      await services.sessions.get(completion.session).cancel(principal, completion.own);
      return await answerFromCompletion(request, completion, { streamed: false });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'delete',
      path: '/v1/responses/{id}',
      operationId: 'deleteResponse',
      summary: 'Delete a stored response',
      description:
        'Afterwards it is not found and cannot be continued. Its messages stay in its session, whose other responses have them: `DELETE /v1/sessions/{id}` deletes all. `conflict`: it has not ended.',
      params: storedCompletionRoute.params,
      answers: { 200: { description: 'Deleted.', schema: DeletedResponse, contentType: 'application/json' } },
      problems: [...storedCompletionRoute.problems, 'conflict'],
    },
    async (request) => {
      const { services, principal, params, answer } = request;
      const passed = await askProvider(request, 'delete', '');
      if (passed !== null) return passed;
      const { session, own } = requireCompletion('openai-responses', params.id);
      await services.sessions.get(session).deleteCompletion(principal, own);
      return answer(200, { id: params.id, object: 'response', deleted: true });
    },
  ),

  defineRoute(
    {
      ...common,
      method: 'get',
      path: '/v1/responses/{id}/input_items',
      operationId: 'listResponseInputItems',
      summary: 'Read the input of a stored response',
      description:
        'The conversation that the response answers: all items of its session before it, also those of earlier responses. Newest first, or oldest first with `order=asc`.',
      params: storedCompletionRoute.params,
      query: ItemsQuery.loose(),
      answers: { 200: { description: 'A page of items.', schema: ItemPage, contentType: 'application/json' } },
      problems: storedCompletionRoute.problems,
    },
    async (request) => {
      const { services, principal, params, query, answer } = request;
      const { after, limit, order } = query;
      const asked = new URLSearchParams({ limit: String(limit), order, ...(after !== undefined && { after }) });
      const passed = await askProvider(request, 'input', `?${asked}`);
      if (passed !== null) return passed;
      const { session, own } = requireCompletion('openai-responses', params.id);
      const port = services.sessions.get(session);
      const { inputThrough } = await port.completionTurn(principal, own);
      return answer(200, await readItemPage((given) => port.messages(principal, given), query, inputThrough));
    },
  ),
];

/** Returns the response of the provider that stores it; null: it is one of a session, or unknown. */
async function askProvider(
  {
    c,
    services,
    principal,
    params: { id },
  }: Pick<RouteRequest<{ params: typeof storedCompletionRoute.params }>, 'c' | 'services' | 'principal' | 'params'>,
  act: Parameters<HttpServices['readStoredResponse']>[1]['act'],
  query: string,
): Promise<Response | null> {
  if (readCompletionId('openai-responses', id) !== null) return null;
  if (act === 'read' && query !== '') requireStream(c);
  return await services.readStoredResponse(principal, { id, act, query, requestId: c.get('requestId') });
}
