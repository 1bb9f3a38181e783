/** What the routes of the chat dialects say of themselves in the OpenAPI document, where it is the same for all. */
import type { z } from 'zod';
import type { ProblemCode } from '../../core/problem.ts';
import { editionHeader } from '../documents.ts';
import type { RouteAnswer } from '../route.ts';

/** `parts`: what its requests call the pieces of a conversation; `leads`: what in a request leads back to a session. */
export function chatHeaders({ parts, leads }: { parts: string; leads: string }): Record<string, string> {
  return {
    'x-moniker-toolset': 'A toolset whose tools run inside; as `toolset` in the body.',
    'x-moniker-session': `A session that remembers; \`new\` makes one. ${parts} that it has stored may be sent again or left out. Without it, ${leads} lead back to theirs.`,
    'idempotency-key':
      'With a session or server tools: a repeat joins the first turn and gets the same answer; with another body it is 422.',
  };
}

/** What a chat request may fail with, beyond what every route may. */
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

/** `forks`: when the session is another one than asked for; `uses`: what the id of the answer is good for. */
export function chatAnswer({ what, frame, schema, forks, uses }: ChatAnswer): RouteAnswer {
  return {
    description: `A ${what}, or its ${frame}s (\`text/event-stream\`) with \`stream: true\`. In a session each ${frame} has an \`id:\`.`,
    schema,
    also: 'text/event-stream',
    headers: {
      ...editionHeader,
      'x-moniker-session': `The session it ran in; another one than asked for when ${forks}.`,
      'x-moniker-completion': `The id of the answer, for ${uses}.`,
    },
  };
}

type ChatAnswer = { what: string; frame: string; schema: z.ZodType; forks: string; uses: string };
