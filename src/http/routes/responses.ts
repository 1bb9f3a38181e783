/**
 * `/v1/responses`: what stock OpenAI clients call (`chat.ts`); an answer that was given before, from any event on; and its end before
 * its time. Nothing that only a provider keeps is found here: its answers are its own.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { invalidRequest } from '../../core/problem.ts';
import { openAiResponses } from '../../dialects/openai-responses/openai-responses.ts';
import { ResponsesRequest } from '../../dialects/openai-responses/openai-responses-request.ts';
import { type App, mountRoute } from '../route.ts';
import { answerChat } from './chat.ts';
import { chatAnswer, chatHeaders, chatProblems } from './chat-description.ts';
import { answerFromCompletion, readStoredPlace, requireCompletion, storedCompletionRoute } from './stored-completion.ts';

const ResponseObject = z.looseObject({ id: z.string(), object: z.literal('response'), status: z.string() }).meta({ id: 'Response' });

const responseAnswer = chatAnswer({
  what: 'Response',
  frame: 'event',
  schema: ResponseObject,
  forks: 'it goes on from an older answer, or the items differ',
  uses: 'GET /v1/responses/{id} and `previous_response_id`',
});

export function mountResponses(app: App): void {
  mountCreate(app);
  mountRetrieve(app);
  mountCancel(app);
}

function mountCreate(app: App): void {
  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/responses',
      operationId: 'createResponse',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Responses, as OpenAI clients do',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside and `output` is what was said, and calls of the caller’s own `tools`: send their outputs with `previous_response_id`, with the items before them, or alone with the session. `previous_response_id` names an answer of a session: the newest is gone on with, an older one in a session of its own. When a call waits for approval the answer ends with a sentence that names it, and the next request goes on. Without any of these the request goes to the provider: as it is where it speaks Responses, else translated. `background`, `conversation`, `prompt` and tools that only OpenAI runs are refused where it is not passed on. Faults have the OpenAI shape.',
      query: z.looseObject({}),
      headers: chatHeaders({ parts: 'Items', leads: '`previous_response_id` and the ids of calls' }),
      body: { schema: z.unknown(), documented: ResponsesRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: responseAnswer },
      problems: chatProblems,
    },
    (request) => answerChat(openAiResponses, request),
  );
}

/** `include` and its like are for what is not here, and say nothing. */
const RetrieveQuery = storedCompletionRoute.query.loose().extend({
  stream: z.enum(['true', 'false']).optional().meta({ description: 'As its events.' }),
  starting_after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The `sequence_number` of the last event that you have. Give this, or `after`.', example: '12' }),
});

function mountRetrieve(app: App): void {
  mountRoute(
    app,
    {
      method: 'get',
      path: '/v1/responses/{id}',
      operationId: 'getResponse',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'A Response again',
      description:
        'Of a session. As a document, which waits for its end; with `stream=true`, `starting_after`, `after`, `Last-Event-ID` or `Accept: text/event-stream` as its events, from the one after that on, to the byte as they were sent first.',
      ...storedCompletionRoute,
      query: RetrieveQuery,
      answers: { 200: responseAnswer },
    },
    async ({ c, services, principal, params, query }) => {
      const completion = requireCompletion('openai-responses', params.id);
      const { stream, starting_after: startingAfter } = query;
      if (startingAfter !== undefined && query.after !== undefined)
        throw invalidRequest([{ path: 'starting_after', message: 'and after name two places: give one' }]);
      const place = readStoredPlace(c, query.after);
      const streamed = stream === 'true' || startingAfter !== undefined || place.streamed;
      // A number goes before an id that came along in a header.
      return await answerFromCompletion(
        services,
        principal,
        completion,
        startingAfter === undefined ? { ...place, streamed } : { streamed, startingAfter },
      );
    },
  );
}

function mountCancel(app: App): void {
  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/responses/{id}/cancel',
      operationId: 'cancelResponse',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'End a Response before its time',
      description:
        'The turn behind it ends at once, also while it waits, and the Response is answered with what was said until then. One that has ended is answered as it is.',
      params: storedCompletionRoute.params,
      answers: { 200: responseAnswer },
      problems: [...storedCompletionRoute.problems, 'conflict'],
    },
    async ({ services, principal, params }) => {
      const completion = requireCompletion('openai-responses', params.id);
      await services.sessions.get(completion.session).cancel(principal, completion.own);
      return await answerFromCompletion(services, principal, completion, { streamed: false });
    },
  );
}
