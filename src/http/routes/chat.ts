/**
 * Routes a chat request of any dialect: to the provider without a session, or, with an agent, a toolset or a session, to a turn whose
 * response has the same dialect (`chat-turn.ts`).
 */
import { requireAllowed } from '../../core/authority.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Principal } from '../../core/principal.ts';
import type { Services } from '../../wiring.ts';
import type { AppContext } from '../middleware/request-context.ts';
import { withReferredItems } from '../../engine/proxy/kept-replies.ts';
import { type ChatBody, type ChatRoute, isPlain, readRoute, requireModel, resolveModel, withoutToolset } from './chat-request.ts';
import { requireStream } from '../places.ts';
import { answerInSession } from './chat-turn.ts';
import type { z } from 'zod';
import type { ProblemCode } from '../../core/problem.ts';
import { editionHeader, replacedHeader } from '../documents.ts';
import type { Answer } from '../route.ts';

export type IncomingChat = {
  c: AppContext;
  services: Services;
  principal: Principal;
  /** Parsed, and as received. */
  body: unknown;
  bytes: Uint8Array;
  text: string;
  /** The caller's headers for a provider with the same API. */
  headers?: Readonly<Record<string, string>>;
};

export async function answerChat(
  dialect: Dialect,
  { c, services, principal, body: value, bytes, text, headers }: IncomingChat,
): Promise<Response> {
  const body = requireModel(value);
  if (body.stream === true) requireStream(c);
  const ref = await resolveModel(services, principal, body.model);
  const route = readRoute(c, dialect, body, ref);
  if (!isPlain(route)) {
    const whole = await withStoredItems(services, principal, dialect, body, route);
    const turn = { c, services, principal, dialect, route, body, bytes, headers };
    return await answerInSession(whole === body ? turn : { ...turn, body: whole, route: readRoute(c, dialect, whole, ref) });
  }
  requireAllowed(principal, { act: 'use-model' });
  const signal = () => c.req.raw.signal;
  return await services.proxyChat(principal, {
    ref,
    dialect,
    body: withoutToolset(body),
    text,
    headers,
    signal,
    requestId: c.get('requestId'),
  });
}

/** Returns the request with the items that it refers to; the same object without references. */
async function withStoredItems(
  { keptReplies }: Services,
  principal: Principal,
  dialect: Dialect,
  body: ChatBody,
  { session, previousCalls }: ChatRoute,
): Promise<ChatBody> {
  if (dialect.name !== 'openai-responses') return body;
  return await withReferredItems(keptReplies(principal), body, { session: session ?? previousCalls, unknown: 'refuse' });
}

/** `parts`: what the dialect calls the elements of a conversation; `leads`: what in a request identifies a session. */
export function chatHeaders({ parts, leads }: { parts: string; leads: string }): Record<string, string> {
  return {
    'x-moniker-toolset': 'A toolset whose tools run inside Moniker; the same as `toolset` in the body.',
    'x-moniker-session': `A session that stores the conversation; \`new\` creates one. ${parts} that it has stored may be sent again or omitted. Without this header, ${leads}, or else the last answer in the history, identify the session.`,
    'idempotency-key':
      'With a session or server tools: a repeated request joins the first turn and returns the same response; with a different body it returns 422.',
  };
}

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
      'x-moniker-session': `The session that was used; differs from the requested one if ${forks}.`,
      'x-moniker-completion': `The id of the completion, for ${uses}.`,
    },
  } satisfies Answer;
}

type ChatAnswer = { what: string; frame: string; schema: z.ZodType; events: z.ZodType; forks: string; uses: string };
