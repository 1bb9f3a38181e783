/** The rule of fallbacks, for turns and for chats without a turn: the models are asked in order until one replies. */
import { once } from '../core/memoize.ts';
import type { ResolvedModel } from '../core/model/route.ts';
import { Problem } from '../core/problem.ts';
import type { ModelTry, RouteAttempt, Routing } from './try-routes.ts';

const loadRoutes = once(() => import('./try-routes.ts'));

/**
 * Returns the first reply. If no model replies, throws the last problem of a provider, or else the first problem: that a fallback cannot be sent
 * the request must not hide why the models before it failed. Throws everything else at once, and the signal's reason on abort.
 */
export async function firstReply<Reply>(
  models: readonly ResolvedModel[],
  routing: Routing,
  ask: (model: string, attempt?: RouteAttempt) => Promise<Reply>,
  signal?: AbortSignal,
): Promise<Reply> {
  let failure: Problem | null = null;
  const tries = models.every(isModel) ? inOrder(models) : (await loadRoutes()).tryRoutes(models, routing);
  for (let next = tries.next(); !next.done; ) {
    if ('waitMs' in next.value) {
      await routing.clock.sleep(next.value.waitMs, signal);
      next = tries.next();
      continue;
    }
    const { model, attempt } = next.value;
    try {
      const reply = await ask(model, attempt);
      attempt?.begun();
      return reply;
    } catch (error) {
      attempt?.failed(error instanceof Problem && signal?.aborted !== true ? error : undefined);
      signal?.throwIfAborted();
      if (!(error instanceof Problem)) throw error;
      if (failure === null || error.extra.provider !== undefined) failure = error;
      next = tries.next(error);
    }
  }
  throw failure ?? new Problem('internal', 'The request names no model.');
}

function isModel(model: ResolvedModel): model is string {
  return typeof model === 'string';
}

function* inOrder(models: readonly string[]): Generator<ModelTry, void, Problem | undefined> {
  for (const model of models) yield { model };
}
