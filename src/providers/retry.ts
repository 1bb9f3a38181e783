/** Trying again what failed before its first byte (DESIGN §6): 429, 5xx and broken connections, a few times, with growing waits. */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { Clock } from '../ports/runtime.ts';

/**
 * Runs `attempt` until it succeeds or is not worth another try; throws the last problem. A `Retry-After` is kept to, but
 * not waited for beyond `maxRetryAfterMs`: then the problem goes out at once, with the time in it. Time-outs are not tried
 * again here, since the caller has waited long enough for one.
 */
export async function withRetries<T>(clock: Clock, signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      const delayMs = delayBefore(error, failures);
      if (delayMs === null) throw error;
      await clock.sleep(delayMs, signal);
    }
  }
}

/** null: do not try again. */
function delayBefore(error: unknown, failures: number): number | null {
  if (!(error instanceof Problem) || error.extra.retryable !== true || error.code === 'upstream_timeout') return null;
  if (failures >= limits.maxProviderRetries) return null;
  const asked = error.extra.retryAfterMs;
  if (typeof asked !== 'number') return limits.providerRetryMs * 2 ** failures;
  return asked <= limits.maxRetryAfterMs ? asked : null;
}
