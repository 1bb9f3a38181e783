/**
 * `/v1/responses`: what stock OpenAI clients call (`chat.ts`); an answer that was given before, from any event on; and its end before
 * its time. Nothing that only a provider keeps is found here: its answers are its own.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { invalidRequest, Problem } from '../../core/problem.ts';
import { readCompletionId, type Reference } from '../../core/reference.ts';
import { openAiResponses } from '../../dialects/openai-responses.ts';
import { ResponsesRequest } from '../../dialects/openai-responses-request.ts';
import { editionHeader } from '../documents.ts';
import { mount, type Answer, type App } from '../route.ts';
import { answerChat, chatProblems } from './chat.ts';
import { completionResponse } from './chat-turn.ts';
import { readPlace, storedAnswerRequest } from './stored-answer.ts';

const ResponseObject = z.looseObject({ id: z.string(), object: z.literal('response'), status: z.string() }).meta({ id: 'Response' });

const responseAnswer: Answer = {
  description: 'A Response, or its events (`text/event-stream`) with `stream: true`. In a session each event has an `id:`.',
  schema: ResponseObject,
  also: 'text/event-stream',
  headers: {
    ...editionHeader,
    'x-moniker-session': 'The session it ran in; another one than asked for when it goes on from an older answer, or the items differ.',
    'x-moniker-completion': 'The id of the answer, for GET /v1/responses/{id} and `previous_response_id`.',
  },
};

export function mountResponses(app: App): void {
  mountCreate(app);
  mountRetrieve(app);
  mountCancel(app);
}

function mountCreate(app: App): void {
  mount(
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
      headers: {
        'x-moniker-toolset': 'A toolset whose tools run inside; as `toolset` in the body.',
        'x-moniker-session':
          'A session that remembers; `new` makes one. Items that it has stored may be sent again or left out. Without it, `previous_response_id` and the ids of calls lead back to theirs.',
        'idempotency-key':
          'With a session or server tools: a repeat joins the first turn and gets the same answer; with another body it is 422.',
      },
      body: { schema: z.unknown(), documented: ResponsesRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: responseAnswer },
      problems: chatProblems,
    },
    (request) => answerChat(openAiResponses, request),
  );
}

/** `include` and its like are for what is not here, and say nothing. */
const RetrieveQuery = storedAnswerRequest.query.loose().extend({
  stream: z.enum(['true', 'false']).optional().meta({ description: 'As its events.' }),
  starting_after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: 'The `sequence_number` of the last event that you have. Give this, or `after`.', example: '12' }),
});

function mountRetrieve(app: App): void {
  mount(
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
      ...storedAnswerRequest,
      query: RetrieveQuery,
      answers: { 200: responseAnswer },
      problems: ['not_found', 'upstream_error', 'upstream_timeout'],
    },
    async ({ c, services, principal, params, query }) => {
      const { session, own } = requireReference(params.id);
      const { stream, starting_after: startingAfter } = query;
      if (startingAfter !== undefined && query.after !== undefined)
        throw invalidRequest([{ path: 'starting_after', message: 'and after name two places: give one' }]);
      const place = readPlace(c, query.after);
      const streamed = stream === 'true' || startingAfter !== undefined || place.streamed;
      const from = startingAfter === undefined ? place.from : { startingAfter };
      const edition = await services.sessions.get(session).completionEdition(principal, own);
      const content = await services.sessions.get(session).completion(principal, own, { streamed, ...from });
      return completionResponse(content, { session, completion: own, edition }, streamed);
    },
  );
}

function mountCancel(app: App): void {
  mount(
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
      params: storedAnswerRequest.params,
      answers: { 200: responseAnswer },
      problems: ['not_found', 'conflict', 'upstream_error', 'upstream_timeout'],
    },
    async ({ services, principal, params }) => {
      const { session, own } = requireReference(params.id);
      const door = services.sessions.get(session);
      await door.cancel(principal, own);
      const edition = await door.completionEdition(principal, own);
      const content = await door.completion(principal, own, { streamed: false });
      return completionResponse(content, { session, completion: own, edition }, false);
    },
  );
}

function requireReference(id: string): Reference {
  const reference = readCompletionId('openai-responses', id);
  if (reference !== null) return reference;
  throw new Problem(
    'not_found',
    'There is no such answer: those of a session are kept, and what a provider answered is only with the provider.',
  );
}
