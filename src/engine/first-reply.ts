/** The rule of fallbacks, for turns and for chats without a turn: the models are asked in order until one replies. */
import { Problem } from '../core/problem.ts';

/**
 * Returns the first reply. If no model replies, throws the last problem of a provider, or else the first problem: that a fallback cannot be sent
 * the request must not hide why the models before it failed. Throws everything else at once, and the signal's reason on abort.
 */
export async function firstReply<Reply>(
  models: readonly string[],
  ask: (model: string) => Promise<Reply>,
  signal?: AbortSignal,
): Promise<Reply> {
  let failure: Problem | null = null;
  for (const model of models) {
    try {
      return await ask(model);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Problem)) throw error;
      if (failure === null || error.extra.provider !== undefined) failure = error;
    }
  }
  throw failure ?? new Problem('internal', 'The request names no model.');
}
