/** `/v1/chat/completions`: what stock OpenAI clients call (`chat.ts`), and an answer that was given before, from any frame on. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { openAiChat } from '../../dialects/openai-chat.ts';
import { ChatCompletionRequest } from '../../dialects/openai-chat-request.ts';
import { editionHeader } from '../documents.ts';
import { mount, type Answer } from '../route.ts';
import type { App } from '../route.ts';
import { answerChat, chatProblems } from './chat.ts';
import { answerAgain, storedAnswerRequest } from './stored-answer.ts';

const ChatCompletion = z.looseObject({ id: z.string(), object: z.string(), model: z.string() }).meta({ id: 'ChatCompletion' });

const completionAnswer: Answer = {
  description: 'A completion, or its chunks (`text/event-stream`) with `stream: true`. In a session each chunk has an `id:`.',
  schema: ChatCompletion,
  also: 'text/event-stream',
  headers: {
    ...editionHeader,
    'x-moniker-session': 'The session it ran in; another one than asked for when the messages differ from what was stored.',
    'x-moniker-completion': 'The id of the answer, for GET /v1/chat/completions/{id}.',
  },
};

export function mountChatCompletions(app: App): void {
  mount(
    app,
    {
      method: 'post',
      path: '/v1/chat/completions',
      operationId: 'createChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Chat, as OpenAI clients do',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside and the answer is one assistant message; without, the request goes to the provider as it is. `tools` of the caller come back as the only `tool_calls`: send their results with the messages before them, or alone with the session. When a call waits for approval the answer ends with a sentence that names it, and the next request goes on. Faults have the OpenAI shape.',
      query: z.looseObject({}),
      headers: {
        'x-moniker-toolset': 'A toolset whose tools run inside; as `toolset` in the body.',
        'x-moniker-session':
          'A session that remembers; `new` makes one. Messages that it has stored may be sent again or left out. Without it, the ids of tool calls lead back to theirs.',
        'idempotency-key':
          'With a session or server tools: a repeat joins the first turn and gets the same answer; with another body it is 422.',
      },
      body: { schema: z.unknown(), documented: ChatCompletionRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: completionAnswer },
      problems: chatProblems,
    },
    (request) => answerChat(openAiChat, request),
  );

  mount(
    app,
    {
      method: 'get',
      path: '/v1/chat/completions/{id}',
      operationId: 'getChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'An answer again',
      description:
        'Of a session. As a document once it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream` as its chunks, from the one after that on, to the byte as they were sent first.',
      ...storedAnswerRequest,
      answers: { 200: completionAnswer },
      problems: ['not_found', 'upstream_error', 'upstream_timeout'],
    },
    (request) => answerAgain('openai-chat', request),
  );
}
