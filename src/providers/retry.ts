/**
 * Retries requests that failed before their first byte (contract §6): 429, 5xx and broken connections, a few times with increasing delays.
 */
import { backoffMs, delayOrAsked } from '../core/limits/backoff.ts';
import type { ChatEvent } from '../core/model/chat-event.ts';
import type { AttemptLimits } from '../core/model/timeouts.ts';
import { Problem } from '../core/problem.ts';
import { retry } from '../engine/retry.ts';
import type { Clock } from '../ports/runtime.ts';

export const maxProviderRetries = 2;
export const providerRetryMs = 500;
const maxRetryAfterMs = 20_000;

/** A failure inside a reply of status 200. The provider may bill it, so it is retried once at most. */
export class FailedReply extends Problem {}

/** Returns the first events of a reply. An error before any output is thrown like an error status: the request may be retried. */
export function refuseFailure<Events extends readonly ChatEvent[]>(first: Events | null): Events {
  if (first === null) throw new Error('a reply ended without an end');
  if (first[0]?.type !== 'error') return first;
  const { code, detail, extra } = Problem.fromBody(first[0].problem);
  throw new FailedReply(code, detail, extra);
}

/**
 * Runs `attempt` until it succeeds or a retry is useless; throws the last problem. Follows a `Retry-After` that is longer than its own delay, up to `maxRetryAfterMs`; a longer
 * one throws the problem immediately, including the delay. Timeouts are not retried, since the client has already waited. `given`: how often it may.
 */
export async function withRetries<T>(
  { clock, signal, timeouts: given }: { clock: Clock; signal?: AbortSignal | undefined; timeouts?: AttemptLimits | undefined },
  attempt: () => Promise<T>,
): Promise<T> {
  let replies = 0;
  const delayMs = (error: unknown, failures: number): number | null => {
    if (!(error instanceof Problem) || error.extra.retryable !== true || error.code === 'upstream_timeout') return null;
    if (given?.mayRetry?.() === false) return null;
    const asked = error.extra.retryAfterMs;
    if (error instanceof FailedReply && (++replies > 1 || (error.code === 'rate_limited' && asked === undefined))) return null;
    if (typeof asked === 'number' && asked > maxRetryAfterMs) return null;
    // `Retry-After: 0`, or a date that has passed, brings no attempt forward.
    return delayOrAsked(backoffMs({ firstMs: providerRetryMs }, failures), { askedMs: asked, maxAskedMs: maxRetryAfterMs });
  };
  return await retry({ clock, signal }, { maxRetries: given?.retries ?? maxProviderRetries, delayMs }, attempt);
}
