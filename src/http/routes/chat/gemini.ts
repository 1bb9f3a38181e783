/** `/v1beta/models/{model}:generateContent` and `:streamGenerateContent`: the endpoints of clients of Gemini's API (`chat.ts`). */
import * as z from 'zod';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest, parseInput } from '../../../core/problem.ts';
import { geminiDialect } from '../../../dialects/gemini/dialect.ts';
import { GenerateContentRequest } from '../../../dialects/gemini/request.ts';
import { isEventStream, SseParser } from '../../../net/sse.ts';
import { unlessKeyEnded } from '../../key-watch.ts';
import { defineRoute, type RouteRequest } from '../../route.ts';
import { answerChat, chatAnswer, chatHeaders, chatProblems } from './chat.ts';

const GenerateContentResponse = z
  .looseObject({
    candidates: z.array(
      z.looseObject({
        index: z.int().optional(),
        content: z.looseObject({ role: z.string().optional(), parts: z.array(z.looseObject({})).optional() }).optional(),
        finishReason: z.string().optional(),
      }),
    ),
    usageMetadata: z
      .looseObject({ promptTokenCount: z.int(), candidatesTokenCount: z.int(), totalTokenCount: z.int() })
      .partial()
      .optional(),
    modelVersion: z.string().optional(),
    responseId: z.string().optional(),
  })
  .meta({
    id: 'GenerateContentResponse',
    example: {
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 3, totalTokenCount: 15 },
      modelVersion: 'agent/demo',
      responseId: 'gen_…',
    },
  });

const { also, events, ...answer } = chatAnswer({
  what: 'response',
  frame: 'chunk',
  schema: GenerateContentResponse,
  events: GenerateContentResponse,
  forks: 'the contents differ from the stored ones',
  uses: 'logs; the stream cannot be resumed, and the turn continues without its reader',
});

const common = {
  method: 'post',
  tag: 'Gemini',
  scopes: ['chat'],
  params: z.object({ model: z.string().min(1).max(400).meta({ example: 'rehearsal/default' }) }),
  query: 'ignored',
  headers: chatHeaders({ parts: 'Contents', leads: 'the ids of function calls' }),
  body: { documented: GenerateContentRequest, maxBytes: limits.maxMessagesBodyBytes },
  problems: chatProblems,
} as const;

const description =
  '`model` is `agent/<name>` or `<provider>/<model>`, also with `%2F`. With an agent, a toolset or a session, server tools run inside Moniker and the response is one message of the model. Otherwise the request is sent to the provider: unchanged to one of kind `gemini`, translated to all others. Calls of the caller’s own `functionDeclarations` are the only `functionCall` parts in the response: send their responses with the preceding contents, or alone with the session, and `thoughtSignature` unread. If a call requires approval, the response ends with a sentence that names it, and the next request continues. The key may also be sent as `x-goog-api-key`, not in the URL. The path may begin with `/v1`, too. Errors have Google’s format.';

type Asked = Omit<RouteRequest, 'params'> & { params: { model: string } };

export const geminiRoutes = [
  defineRoute(
    {
      ...common,
      path: '/v1beta/models/{model+}:generateContent',
      alsoAt: '/v1/models/{model+}:generateContent',
      operationId: 'generateContent',
      summary: 'Generate content (Gemini)',
      description,
      answers: { 200: { ...answer, description: 'A response.', contentType: 'application/json' } },
    },
    (request) => generate(request, false),
  ),

  defineRoute(
    {
      ...common,
      path: '/v1beta/models/{model+}:streamGenerateContent',
      alsoAt: '/v1/models/{model+}:streamGenerateContent',
      operationId: 'streamGenerateContent',
      summary: 'Generate content as a stream (Gemini)',
      description:
        'As `generateContent`, in chunks: as events with `?alt=sse`, and otherwise as one JSON array that grows. A function call is a chunk. A failure in the middle is a last chunk with `error`.',
      answers: {
        200: { ...answer, description: 'The chunks.', schema: z.array(GenerateContentResponse), also, events },
      },
    },
    async (request) => {
      const startedAt = request.services.clock.now();
      const response = await generate(request, true);
      if (request.c.req.query('alt') === 'sse' || !isEventStream(response) || response.body === null) return response;
      // An array is not watched where event streams are.
      const watched = await unlessKeyEnded(request.c, common.scopes, response, startedAt);
      const headers = new Headers(watched.headers);
      headers.set('content-type', 'application/json');
      return new Response(watched.body === null ? null : toJsonArray(watched.body), { headers });
    },
  ),
];

async function generate(request: Asked, streamed: boolean): Promise<Response> {
  const body = withPath(request, streamed);
  const { bytes, c } = request;
  // A repeated request has the same path, too.
  const whole = c.req.header('idempotency-key') === undefined ? bytes : new TextEncoder().encode(JSON.stringify(body));
  return await answerChat(geminiDialect, { ...request, body, bytes: whole, text: undefined });
}

/** Returns the request with what the path says. Throws `invalid_request` if the body says it, too. */
export function withPath({ params, body }: Pick<Asked, 'params' | 'body'>, stream?: boolean): Record<string, unknown> {
  const given = parseInput(z.looseObject({}), body);
  const model = modelIn(params.model);
  const isSame = given.model === undefined || given.model === model || given.model === `models/${model}`;
  const issues = [
    ...(isSame ? [] : [{ path: 'model', message: 'differs from the model in the path: remove it' }]),
    ...(given.stream === undefined ? [] : [{ path: 'stream', message: 'is in the path of this API: remove it' }]),
  ];
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...given, model, ...(stream !== undefined && { stream }) };
}

/** Returns the model of a path's parameter, which ends with the method. */
export function modelIn(parameter: string): string {
  return parameter.slice(0, parameter.lastIndexOf(':'));
}

/** Writes the data of an event stream as a JSON array, in pieces as they come. */
function toJsonArray(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const parser = new SseParser();
  const utf8 = new TextEncoder();
  let isBegun = false;
  const items = (messages: readonly { data: string }[]): string =>
    messages
      .filter(({ data }) => data !== '')
      .map(({ data }) => {
        const item = `${isBegun ? ',\n' : '['}${data}`;
        isBegun = true;
        return item;
      })
      .join('');
  return source.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const text = items(parser.push(bytes));
        if (text !== '') controller.enqueue(utf8.encode(text));
      },
      flush(controller) {
        controller.enqueue(utf8.encode(`${items(parser.end())}${isBegun ? ']' : '[]'}`));
      },
    }),
  );
}
