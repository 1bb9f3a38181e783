/** `/v1/messages`: the endpoint of stock Anthropic clients (`chat.ts`), and earlier messages, from any frame on. */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import { recordOf } from '../../../core/json/wire-value.ts';
import { anthropicMessages } from '../../../dialects/anthropic/dialect.ts';
import { MessagesRequest } from '../../../dialects/anthropic/request.ts';
import { anthropicHeaders, countTokenRoutes } from '../models/count-tokens.ts';
import { defineRoute } from '../../route.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';
import { replayCompletion, storedCompletionRoute } from './stored-completion.ts';

const MessageAnswer = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
  })
  .meta({
    id: 'MessageAnswer',
    example: {
      id: 'msg_…',
      type: 'message',
      role: 'assistant',
      model: 'agent/demo',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 12, output_tokens: 3 },
    },
  });

const MessageEvent = z.looseObject({ type: z.string() }).meta({ id: 'MessageEvent' });

const messageAnswer = chatAnswer({
  what: 'message',
  events: MessageEvent,
  frame: 'event',
  schema: MessageAnswer,
  forks: 'the messages differ from the stored ones',
  uses: 'GET /v1/messages/{id}',
});

/**
 * A thread is a conversation that one provider stores for a few minutes: a continuation must reach that provider and receive its own error
 * if the thread is lost, and neither is possible here. After this error the stock client continues without threads (guide "Message
 * threads").
 */
function refuseThread(body: unknown): void {
  const { thread } = recordOf(body);
  if (thread == null) return;
  const message = 'is not supported: send all messages, or name a session in x-moniker-session';
  throw new Problem('invalid_request', `thread: ${message}.`, {
    issues: [{ path: 'thread', message }],
    anthropic: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

export const messagesRoutes = [
  // The name under which the stock client reads the request id.
  defineRoute(
    {
      method: 'post',
      path: '/v1/messages',
      operationId: 'createMessage',
      tag: 'Anthropic',
      scopes: ['chat'],
      summary: 'Create a message (Anthropic)',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside Moniker and the response is one assistant message. Otherwise the request is sent to the provider: unchanged to one of kind `anthropic`, translated to all others. Calls of the caller’s own `tools` are the only `tool_use` blocks in the response: send their results with the preceding messages, or alone with the session. Tools that only Anthropic runs (by `type`) and PDFs are supported if the request is sent to Anthropic unchanged. Messages that end with an assistant message are continued without server tools and session, if the model supports it. If a call requires approval, the response ends with a sentence that names it, and the next request continues. `thinking` blocks may be sent back or omitted. The key may also be sent as `x-api-key`. Errors have Anthropic’s format.',
      query: 'ignored',
      headers: {
        'anthropic-version': 'Passed on if the request is sent unchanged to a provider of kind `anthropic`.',
        'anthropic-beta': 'The same.',
        ...chatHeaders({ parts: 'Messages', leads: 'the ids of tool calls' }),
      },
      body: { documented: MessagesRequest, maxBytes: limits.maxMessagesBodyBytes },
      answers: { 200: messageAnswer },
      problems: chatProblems,
    },
    (request) => {
      refuseThread(request.body);
      return answerChat(anthropicMessages, request, anthropicHeaders(request.c));
    },
  ),

  ...countTokenRoutes,

  defineRoute(
    {
      method: 'get',
      path: '/v1/messages/{id}',
      operationId: 'getMessage',
      tag: 'Anthropic',
      scopes: ['chat'],
      summary: 'Read a stored message',
      description:
        'An extension of Anthropic’s API, for messages of a session. Returns a document when it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream`, returns its events after the given one, byte for byte as first sent.',
      ...storedCompletionRoute,
      answers: { 200: messageAnswer },
    },
    (request) => replayCompletion('anthropic-messages', request),
  ),
];
