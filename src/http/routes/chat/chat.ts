/**
 * Chat requests of any dialect: reads the request, and writes the response of the provider or of the session's turn. `engine/chat/` decides
 * between them.
 */
import type * as z from 'zod';
import type { ProblemCode } from '../../../core/problem.ts';
import { cacheHeader } from '../../../core/model/cache/cache-decision.ts';
import { recoveredHeader } from '../../../core/model/recovered-calls.ts';
import { type DroppedItem, droppedHeader, droppedHeaders } from '../../../core/model/dropped.ts';
import { apiHeader } from '../../../core/model/provider-profile.ts';
import { targetHeaders } from '../../../core/model/route.ts';
import type { EditionPointer } from '../../../core/toolset/edition-tool.ts';
import type { Plan } from '../../../core/turn/plan.ts';
import type { Dialect } from '../../../dialects/dialect.ts';
import { requireModel } from '../../../engine/chat/incoming-chat.ts';
import { runChat } from '../../../engine/chat/run-chat.ts';
import type { LateAnswer } from '../../../engine/proxy/open-in-time.ts';
import { withDeployment } from '../../azure-paths.ts';
import { editionHeader, editionName, replacedHeader, replacedToolsHeader } from '../../conditions.ts';
import { eventStreamHeaders } from '../../event-stream.ts';
import { idempotencyOf } from '../../idempotency.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { toProblem } from '../../problems.ts';
import { requireStream } from '../../places.ts';
import type { Answer, RouteRequest } from '../../route.ts';

/** `text` undefined: the body is not what was received. */
type ChatRequest = Omit<RouteRequest, 'params' | 'query' | 'answer' | 'text'> & { text: string | undefined };

/** `headers`: the caller's headers for a provider with the same API. */
export async function answerChat(
  dialect: Dialect,
  { c, services, principal, body, bytes, text }: ChatRequest,
  headers?: Readonly<Record<string, string>>,
): Promise<Response> {
  const checked = requireModel(withDeployment(c.req.raw, body));
  if (checked.stream === true) requireStream(c);
  const request = { method: c.req.method, path: c.req.path, requestId: c.get('requestId') };
  const { clock, log } = c.get('services');
  const lateness = { dialect, clock, toProblem: (error: unknown) => toProblem(error, request, log) };
  const answer = await runChat(services, {
    ...{ principal, dialect, body: checked, text, headers },
    ...routingHeaders(c),
    requestId: c.get('requestId'),
    cache: c.req.header(cacheHeader),
    signal: () => c.req.raw.signal,
    idempotency: () => idempotencyOf(c, bytes),
    open: checked.stream === true ? (opening) => openLater(opening, lateness) : (opening) => opening,
  });
  if (answer instanceof Response) return answer;
  const response = completionResponse(answer.content, answer, answer.streamed);
  if (c.req.header(cacheHeader) !== undefined) response.headers.set(cacheHeader, 'bypass; reason=turn');
  return response;
}

/** Not part of the eager start. */
async function openLater(opening: Promise<Response>, lateness: LateAnswer): Promise<Response> {
  // A failure meanwhile is thrown below.
  opening.catch(() => undefined);
  const { openInTime } = await import('../../../engine/proxy/open-in-time.ts');
  return await openInTime(opening, lateness);
}

export function routingHeaders(c: AppContext) {
  return { toolset: c.req.header('x-moniker-toolset'), session: c.req.header('x-moniker-session') };
}

/** `session` and `completion` are null for a turn of no session. */
type CompletionOf = Pick<Plan, 'replaced'> & {
  session: string | null;
  completion: string | null;
  edition: EditionPointer | null;
  dropped?: readonly DroppedItem[];
};

/** Sets the same headers for new and stored completions. */
export function completionResponse(content: ReadableStream<Uint8Array>, submitted: CompletionOf, streamed: boolean): Response {
  const { session, completion, edition } = submitted;
  return new Response(content, {
    headers: {
      ...(streamed ? eventStreamHeaders : { 'content-type': 'application/json' }),
      ...(session !== null && { 'x-moniker-session': session }),
      ...(completion !== null && { 'x-moniker-completion': completion }),
      ...(edition !== null && { 'x-moniker-edition': editionName(edition) }),
      ...(replacedToolsHeader(submitted) as Record<string, string>),
      ...droppedHeaders(submitted.dropped ?? []),
    },
  });
}

/** `parts`: what the dialect calls the elements of a conversation; `leads`: what in a request identifies a session. */
export function chatHeaders({ parts, leads }: { parts: string; leads: string }): Record<string, string> {
  return {
    'x-moniker-toolset': 'A toolset whose tools run inside Moniker; the same as `toolset` in the body.',
    'x-moniker-session': `A session that stores the conversation; \`new\` creates one. ${parts} that it has stored may be sent again or omitted. Without this header, ${leads}, or else the last answer in the history, identify the session.`,
    [cacheHeader]: cacheRequestHeader,
    'idempotency-key':
      'With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422.',
  };
}

/** Of the requests that a cached reply can answer, and of their responses. */
export const cacheRequestHeader =
  '`ttl=600` stores the reply for so many seconds, and answers an equal request with it; `refresh` replaces a stored reply; `no-store` does neither. Not for turns.';
export const cacheAnswerHeader =
  'Where the cache is asked for: `hit; age=12` (seconds), `miss`, or `bypass; reason=…`: `alias`, `key` (forbidden there), `request`, `no-ttl`, `turn`, `background`, `conversation` or `provider-tools`.';

/** Problems of a chat request beyond those of every route. */
export const chatProblems: readonly ProblemCode[] = [
  'model_not_found',
  'not_found',
  'conflict',
  'idempotency_mismatch',
  'rate_limited',
  'upstream_error',
  'unavailable',
  'upstream_timeout',
  'loop_detected',
];

/** `forks`: when a new session is created; `uses`: how the id of the completion can be used. */
export function chatAnswer({ what, frame, schema, events, forks, uses }: ChatAnswer) {
  return {
    description: `A ${what}, or its ${frame}s (\`text/event-stream\`) with \`stream: true\`. In a session each ${frame} has an \`id:\`.`,
    schema,
    also: 'text/event-stream',
    events,
    headers: {
      ...editionHeader,
      ...replacedHeader,
      [droppedHeader]:
        'What the request asked for and the provider was not sent, by its names in the request: `stop, service_tier`. Absent: nothing.',
      [cacheHeader]: cacheAnswerHeader,
      [apiHeader]:
        'The provider kind whose API got the request, if it is not that of the provider: `openai-responses` for tools of OpenAI models that Chat Completions refuses.',
      ...targetHeaders,
      [recoveredHeader]:
        'Without a session: the tools of the calls that stood in the text of the reply, since the provider’s server did not recognize them. A stream has a comment with the same text before the calls.',
      'x-moniker-session': `The session that was used; differs from the requested one if ${forks}.`,
      'x-moniker-completion': `The id of the completion, for ${uses}.`,
    },
  } satisfies Answer;
}

type ChatAnswer = { what: string; frame: string; schema: z.ZodType; events: z.ZodType; forks: string; uses: string };
