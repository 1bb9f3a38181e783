/** `/v1/chat/completions`: what stock OpenAI clients call (`chat.ts`), and an answer that was given before, from any frame on. */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import { openAiChat } from '../../dialects/openai-chat/openai-chat.ts';
import { ChatCompletionRequest } from '../../dialects/openai-chat/openai-chat-request.ts';
import { type App, mountRoute } from '../route.ts';
import { answerChat } from './chat.ts';
import { chatAnswer, chatHeaders, chatProblems } from './chat-description.ts';
import { replayCompletion, storedCompletionRoute } from './stored-completion.ts';

const ChatCompletion = z.looseObject({ id: z.string(), object: z.string(), model: z.string() }).meta({ id: 'ChatCompletion' });

const completionAnswer = chatAnswer({
  what: 'completion',
  frame: 'chunk',
  schema: ChatCompletion,
  forks: 'the messages differ from what was stored',
  uses: 'GET /v1/chat/completions/{id}',
});

export function mountChatCompletions(app: App): void {
  mountRoute(
    app,
    {
      method: 'post',
      path: '/v1/chat/completions',
      operationId: 'createChatCompletion',
      tag: 'OpenAI',
      scopes: ['chat'],
      summary: 'Chat, as OpenAI clients do',
      description:
        '`model` is `agent/<name>` or `<provider>/<model>`. With an agent, a toolset or a session, server tools run inside and the answer is one assistant message; without, the request goes to the provider: as it is where it speaks Chat Completions, else translated. `tools` of the caller come back as the only `tool_calls`: send their results with the messages before them, or alone with the session. When a call waits for approval the answer ends with a sentence that names it, and the next request goes on. Faults have the OpenAI shape.',
      query: z.looseObject({}),
      headers: chatHeaders({ parts: 'Messages', leads: 'the ids of tool calls' }),
      body: { schema: z.unknown(), documented: ChatCompletionRequest, maxBytes: limits.maxLargeBodyBytes },
      answers: { 200: completionAnswer },
      problems: chatProblems,
    },
    (request) => answerChat(openAiChat, request),
  );

  mountRoute(
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
      ...storedCompletionRoute,
      answers: { 200: completionAnswer },
    },
    (request) => replayCompletion('openai-chat', request),
  );
}
