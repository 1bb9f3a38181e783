/**
 * A stored completion of any dialect: as a document, or as its frames from any one on. Shared by the GET routes of the dialects; the
 * completion is encoded from the session's log (`objects/session/log/completion-reader.ts`).
 */
import * as z from 'zod';
import { Problem, type ProblemCode } from '../../../core/problem.ts';
import { readCompletionId, type ApiDialectName, type Reference } from '../../../core/text/reference.ts';
import { frameIdPattern } from '../../../dialects/answer.ts';
import type { CompletionOptions } from '../../../ports/session.ts';
import type { AppContext } from '../../middleware/request-context.ts';
import { requireStream } from '../../places.ts';
import type { RouteRequest } from '../../route.ts';
import { completionResponse } from './chat.ts';

const Params = z.object({ id: z.string() });
const Query = z.strictObject({
  after: z.string().regex(frameIdPattern, { message: 'must be the id of a frame' }).optional().meta({
    description: 'The `id:` of the last received frame. Default: `Last-Event-ID`, otherwise all frames.',
    example: '12.1',
  }),
});

/** Parameters and problems of such a route. */
export const storedCompletionRoute = {
  params: Params,
  query: Query,
  headers: {
    accept: '`text/event-stream`: return frames.',
    'last-event-id': 'As browsers send it. An invalid id means from the start.',
  },
  problems: ['not_found', 'upstream_error', 'upstream_timeout'] as readonly ProblemCode[],
};

/** Throws `not_found` for an id of another dialect, or a completion that this caller did not receive. */
export async function replayCompletion(
  dialect: ApiDialectName,
  request: RouteRequest<{ params: typeof Params; query: typeof Query }>,
): Promise<Response> {
  const { c, params, query } = request;
  return await answerFromCompletion(request, requireCompletion(dialect, params.id), readStoredPlace(c, query.after));
}

export function requireCompletion(dialect: ApiDialectName, id: string): Reference {
  const completion = readCompletionId(dialect, id);
  if (completion !== null) return completion;
  throw new Problem(
    'not_found',
    'Completion not found. Completions of sessions are stored; responses of a provider are available only from the provider.',
  );
}

/** Returns whether the caller requests frames, and after which one. */
export function readStoredPlace(c: AppContext, asked: string | undefined): CompletionOptions {
  const lastEventId = c.req.header('last-event-id');
  const after = asked ?? (lastEventId !== undefined && frameIdPattern.test(lastEventId) ? lastEventId : undefined);
  const streamed = after !== undefined || lastEventId !== undefined || c.req.header('accept')?.includes('text/event-stream') === true;
  return { streamed, ...(after !== undefined && { after }) };
}

export async function answerFromCompletion(
  { c, services, principal }: Pick<RouteRequest, 'c' | 'services' | 'principal'>,
  { session, own: completion }: Reference,
  options: CompletionOptions,
): Promise<Response> {
  if (options.streamed) requireStream(c);
  const sessionPort = services.sessions.get(session);
  const { edition } = await sessionPort.completionTurn(principal, completion);
  const content = await sessionPort.completion(principal, completion, options);
  return completionResponse(content, { session, completion, edition }, options.streamed);
}
