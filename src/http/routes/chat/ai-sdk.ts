/** `POST /v1/ai-sdk/chat`: the endpoint of the AI SDK's chats in user interfaces (`chat.ts`). */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { aiSdk } from '../../../dialects/ai-sdk/dialect.ts';
import { UiChatRequest } from '../../../dialects/ai-sdk/request.ts';
import { defineRoute } from '../../route.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';

const UiMessageChunk = z.looseObject({ type: z.string() }).meta({ id: 'UiMessageChunk' });

const {
  schema: _schema,
  also: _also,
  ...answer
} = chatAnswer({
  what: 'stream of a UI message',
  frame: 'chunk',
  schema: UiMessageChunk,
  events: UiMessageChunk,
  forks: 'the messages differ from those of the session',
  uses: 'logs; the stream cannot be resumed, and the turn continues without its reader',
});

const versionHeader = 'x-vercel-ai-ui-message-stream';

export const aiSdkRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/v1/ai-sdk/chat',
      operationId: 'createUiMessage',
      tag: 'User interfaces',
      scopes: ['chat'],
      summary: 'Continue a chat of a user interface (AI SDK)',
      description:
        'For `useChat` and `DefaultChatTransport` of the AI SDK: set `api` to this URL, `headers` to the key, and `body` to `{"model": "agent/<name>"}`. Returns the UI message stream, version 1: text, reasoning, calls of server tools as `dynamic-tool` parts with their results, and calls of the client’s own `tools`. A call that requires approval is a `tool-approval-request`; after `addToolApprovalResponse`, the next request decides it, with the scope `approve`, and continues the message. `conflict`: it was decided otherwise. The session is found by the ids of the messages. Errors before the stream are problems, later ones `error` chunks.',
      query: 'ignored',
      headers: chatHeaders({ parts: 'Messages', leads: 'the ids of messages' }),
      body: { documented: UiChatRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: { ...answer, contentType: 'text/event-stream', headers: { ...answer.headers, [versionHeader]: '`v1`' } } },
      problems: chatProblems,
    },
    async (request) => {
      const { body, status, headers } = await answerChat(aiSdk, { ...request, body: { ...(request.body as object), stream: true } });
      return new Response(body, { status, headers: { ...Object.fromEntries(headers), [versionHeader]: 'v1' } });
    },
  ),
];
