/** `/v1/chat/completions`: the endpoint of stock OpenAI clients (`chat.ts`), and earlier completions, from any frame on. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { openAiChat } from '../../../dialects/openai-chat/dialect.ts';
import { ChatCompletionRequest } from '../../../dialects/openai-chat/request.ts';
import { defineRoute } from '../../route.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';
import { replayCompletion, storedCompletionRoute } from './stored-completion.ts';

const message = z.looseObject({
  role: z.string().optional(),
  content: z.unknown().optional().meta({ description: 'Text; null beside tool calls.' }),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        type: z.string().optional(),
        function: z.looseObject({ name: z.string().optional(), arguments: z.string().optional() }).optional(),
      }),
    )
    .nullish()
    .meta({ description: 'Calls of the caller’s own tools.' }),
});
const finish = { index: z.int(), finish_reason: z.string().nullish() };
const completion = {
  id: z.string(),
  object: z.string(),
  created: z.number().optional(),
  model: z.string(),
  usage: z
    .looseObject({ prompt_tokens: z.number(), completion_tokens: z.number(), total_tokens: z.number() })
    .partial()
    .nullish()
    .meta({ description: 'Of all steps.' }),
};
const ChatCompletion = z
  .looseObject({ ...completion, choices: z.array(z.looseObject({ ...finish, message })) })
  .meta({ id: 'ChatCompletion' });
const ChatCompletionChunk = z
  .looseObject({ ...completion, choices: z.array(z.looseObject({ ...finish, delta: message })) })
  .meta({ id: 'ChatCompletionChunk' });

const completionAnswer = chatAnswer({
  what: 'completion',
  frame: 'chunk',
  schema: ChatCompletion,
  events: ChatCompletionChunk,
  forks: 'the messages differ from the stored ones',
  uses: 'GET /v1/chat/completions/{id}',
});

export const chatCompletionRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/chat/completions',
      operationId: 'createChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Create a chat completion (OpenAI)',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker and the response is one assistant message. Otherwise the request is sent to the provider: unchanged if it supports Chat Completions, otherwise translated. Calls of the caller’s own `tools` are the only `tool_calls` in the response: send their results with the preceding messages, or alone with the session. If a call requires approval, the response ends with a sentence that names it, and the next request continues. Errors have the OpenAI format.',
      query: 'ignored',
      headers: chatHeaders({ parts: 'Messages', leads: 'the ids of tool calls' }),
      body: { documented: ChatCompletionRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: completionAnswer },
      problems: chatProblems,
    },
    (request) => answerChat(openAiChat, request),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/v1/chat/completions/{id}',
      operationId: 'getChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Read a stored completion',
      description:
        'For completions of a session. Returns a document when it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its chunks after the given one, byte for byte as first sent.',
      ...storedCompletionRoute,
      answers: { 200: completionAnswer },
    },
    (request) => replayCompletion('openai-chat', request),
  ),
];
