/** `/v1/messages`: what stock Anthropic clients call (`chat.ts`), and an answer that was given before, from any frame on. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { recordOf } from '../../core/json/wire-value.ts';
import { anthropicMessages } from '../../dialects/anthropic/anthropic-messages.ts';
import { MessagesRequest } from '../../dialects/anthropic/anthropic-messages-request.ts';
import { setHeaders } from '../middleware/request-context.ts';
import { type App, mountRoute } from '../route.ts';
import { anthropicHeaders } from './anthropic-headers.ts';
import { answerChat } from './chat.ts';
import { chatAnswer, chatHeaders, chatProblems } from './chat-description.ts';
import { mountCountTokens } from './count-tokens.ts';
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

const messageAnswer = chatAnswer({
  what: 'message',
  frame: 'event',
  schema: MessageAnswer,
  forks: 'the messages differ from what was stored',
  uses: 'GET /v1/messages/{id}',
});

/**
 * A thread is a conversation that one provider keeps for a few minutes: whoever goes on with it must reach that one, and be told of its loss
 * in its own words, neither of which holds here. Told so, the stock client goes on without (guide "Message threads").
 */
function refuseThread(body: unknown): void {
  const { thread } = recordOf(body);
  if (thread == null) return;
  const message = 'is not taken here: send all messages, or name a session by x-moniker-session';
  throw new Problem('invalid_request', `thread: ${message}.`, {
    issues: [{ path: 'thread', message }],
    anthropic: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
}

export function mountMessages(app: App): void {
  // The name under which the stock client looks for what others call `x-request-id`.
  app.router.use('/v1/messages/*', async (c, next) => {
    await next();
    setHeaders(c, [['request-id', c.get('requestId')]]);
  });

  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/messages',
      operationId: 'createMessage',
      tag: 'Anthropic',
      scopes: ['chat'],
      summary: 'Chat, as Anthropic clients do',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside and the answer is one assistant message; without, the request goes to the provider: as it is to one of kind `anthropic`, translated to all others. `tools` of the caller come back as the only `tool_use` blocks: send their results with the messages before them, or alone with the session. Tools that only Anthropic runs (by `type`) and PDFs are taken where the request goes to it as it is. Messages that end with the assistant’s are gone on from without server tools and session, as far as the model can. When a call waits for approval the answer ends with a sentence that names it, and the next request goes on. `thinking` blocks may be sent back or left out. The key is taken from `x-api-key`, too. Faults have Anthropic’s shape.',
      query: z.looseObject({}),
      headers: {
        'anthropic-version': 'Passed on where the request goes to a provider of kind `anthropic` as it is.',
        'anthropic-beta': 'The same.',
        ...chatHeaders({ parts: 'Messages', leads: 'the ids of tool calls' }),
      },
      body: { schema: z.unknown(), documented: MessagesRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: messageAnswer },
      problems: chatProblems,
    },
    (request) => {
      refuseThread(request.body);
      return answerChat(anthropicMessages, { ...request, headers: anthropicHeaders(request.c) });
    },
  );

  mountCountTokens(app);

  mountRoute(
    app,
    {
      method: 'get',
      path: '/v1/messages/{id}',
      operationId: 'getMessage',
      tag: 'Anthropic',
      scopes: ['chat'],
      summary: 'An answer again',
      description:
        'Not of Anthropic. An answer of a session: as a document once it has ended; with `after`, `Last-Event-ID` or `Accept: text/event-stream` as its events, from the one after that on, to the byte as they were sent first.',
      ...storedCompletionRoute,
      answers: { 200: messageAnswer },
    },
    (request) => replayCompletion('anthropic-messages', request),
  );
}
