/** OpenAPI texts that are the same for all routes of chat dialects. */
import type { z } from 'zod';
import type { ProblemCode } from '../../core/problem.ts';
import { editionHeader } from '../documents.ts';
import type { RouteAnswer } from '../route.ts';

/** `parts`: what the dialect calls the elements of a conversation; `leads`: what in a request identifies a session. */
export function chatHeaders({ parts, leads }: { parts: string; leads: string }): Record<string, string> {
  return {
    'x-moniker-toolset': 'A toolset whose tools run inside Moniker; the same as `toolset` in the body.',
    'x-moniker-session': `A session that stores the conversation; \`new\` creates one. ${parts} that it has stored may be sent again or omitted. Without this header, ${leads} identify the session.`,
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
  'upstream_timeout',
  'loop_detected',
];

/** `forks`: when a new session is created; `uses`: how the id of the completion can be used. */
export function chatAnswer({ what, frame, schema, forks, uses }: ChatAnswer): RouteAnswer {
  return {
    description: `A ${what}, or its ${frame}s (\`text/event-stream\`) with \`stream: true\`. In a session each ${frame} has an \`id:\`.`,
    schema,
    also: 'text/event-stream',
    headers: {
      ...editionHeader,
      'x-moniker-session': `The session that was used; differs from the requested one if ${forks}.`,
      'x-moniker-completion': `The id of the completion, for ${uses}.`,
    },
  };
}

type ChatAnswer = { what: string; frame: string; schema: z.ZodType; forks: string; uses: string };
