/**
 * Retries requests that failed before their first byte (contract §6): 429, 5xx and broken connections, a few times with increasing delays.
 */
import { Problem } from '../core/problem.ts';
import type { Clock } from '../ports/runtime.ts';

export const maxProviderRetries = 2;
export const providerRetryMs = 500;
const maxRetryAfterMs = 20_000;

/** A failure inside a reply of status 200. The provider may bill it, so it is retried once at most. */
export class FailedReply extends Problem {}

/**
 * Runs `attempt` until it succeeds or a retry is useless; throws the last problem. Follows `Retry-After` up to `maxRetryAfterMs`; a longer
 * one throws the problem immediately, including the delay. Timeouts are not retried, since the client has already waited.
 */
export async function withRetries<T>(clock: Clock, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  let replies = 0;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      if (error instanceof FailedReply && (++replies > 1 || (error.code === 'rate_limited' && error.extra.retryAfterMs === undefined)))
        throw error;
      const delayMs = delayBefore(error, failures);
      if (delayMs === null) throw error;
      await clock.sleep(delayMs, signal);
    }
  }
}

/** null: do not retry. */
function delayBefore(error: unknown, failures: number): number | null {
  if (!(error instanceof Problem) || error.extra.retryable !== true || error.code === 'upstream_timeout') return null;
  if (failures >= maxProviderRetries) return null;
  const asked = error.extra.retryAfterMs;
  if (typeof asked !== 'number') return providerRetryMs * 2 ** failures;
  return asked <= maxRetryAfterMs ? asked : null;
}
