/**
 * An answer that was given before, in whatever dialect: as a document, or as its frames from any one on. What each dialect's
 * GET path does and says of itself; the answer is cut out of the session's log (`session/completion-reader.ts`).
 */
import { z } from 'zod';
import { Problem } from '../../core/problem.ts';
import { readCompletionId, type DialectName } from '../../core/reference.ts';
import { frameIdPattern } from '../../dialects/answer.ts';
import type { AppContext } from '../context.ts';
import type { Request } from '../route.ts';
import { completionResponse } from './chat-turn.ts';

const Params = z.object({ id: z.string() });
const Query = z.strictObject({
  after: z.string().regex(frameIdPattern, { message: 'must be the id of a frame' }).optional().meta({
    description: 'The `id:` of the last frame that you have. Absent: `Last-Event-ID`, else all.',
    example: '12.1',
  }),
});

/** What such a route takes. */
export const storedAnswerRequest = {
  params: Params,
  query: Query,
  headers: {
    accept: '`text/event-stream`: as frames.',
    'last-event-id': 'As browsers send it. One that is no id of a frame means from the start.',
  },
};

/** Throws `not_found` for an id that is none of the dialect's, or whose answer this caller was not given. */
export async function answerAgain(
  dialect: DialectName,
  { c, services, principal, params, query }: Request<z.infer<typeof Params>, z.infer<typeof Query>, unknown>,
): Promise<Response> {
  const reference = readCompletionId(dialect, params.id);
  if (reference === null) throw new Problem('not_found', 'There is no such answer.');
  const { streamed, from } = readPlace(c, query.after);
  const session = services.sessions.get(reference.session);
  const edition = await session.completionEdition(principal, reference.own);
  const content = await session.completion(principal, reference.own, { streamed, ...from });
  return completionResponse(content, { session: reference.session, completion: reference.own, edition }, streamed);
}

/** Whether the caller wants frames, and after which. */
export function readPlace(c: AppContext, asked: string | undefined): { streamed: boolean; from: { after?: string } } {
  const lastEventId = c.req.header('last-event-id');
  const after = asked ?? (lastEventId !== undefined && frameIdPattern.test(lastEventId) ? lastEventId : undefined);
  const streamed = after !== undefined || lastEventId !== undefined || c.req.header('accept')?.includes('text/event-stream') === true;
  return { streamed, from: after === undefined ? {} : { after } };
}
