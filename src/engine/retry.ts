/**
 * The one loop that repeats failed work while its caller waits. Work that is repeated later stores the time of its next attempt instead: the
 * delays of both are in `core/limits/backoff.ts`.
 */
import type { Clock } from '../ports/runtime.ts';

export type RetryPolicy = {
  maxRetries: number;
  /** Returns the delay before the next attempt, after `failures` failures; null: another attempt would be useless. */
  delayMs(error: unknown, failures: number): number | null;
  /** Called before the delay, to log it. */
  onRetry?(error: unknown, failures: number): void;
};

/** Runs `attempt` until it succeeds or is not retried; throws its last error, or the signal's reason if that aborts before the next attempt. */
export async function retry<T>(
  { clock, signal }: { clock: Pick<Clock, 'sleep'>; signal?: AbortSignal | undefined },
  { maxRetries, delayMs, onRetry }: RetryPolicy,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      const ms = failures > maxRetries ? null : delayMs(error, failures);
      if (ms === null) throw error;
      signal?.throwIfAborted();
      onRetry?.(error, failures);
      if (ms > 0) await clock.sleep(ms, signal);
    }
  }
}
