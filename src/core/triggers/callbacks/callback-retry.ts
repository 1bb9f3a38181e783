/** Computes when a failed callback is sent again. Pure: the time and the random number are passed in. */
import { limits } from '../../limits.ts';

/**
 * Returns the milliseconds from the end of attempt number `attempt` (from 1) to the next; null: that was the last. A receiver's Retry-After
 * is followed up to the delay of the step after this one, so that it can neither postpone a message forever nor bring it forward. `dice`:
 * from 0 to 1, spreads retries by up to a tenth.
 */
export function nextAttemptMs(attempt: number, retryAfterMs: number | null, dice: number): number | null {
  const steps: readonly number[] = limits.callbackRetriesMs;
  const step = steps[attempt - 1];
  if (step === undefined) return null;
  const asked = Math.min(retryAfterMs ?? 0, steps[attempt] ?? step);
  return Math.round(Math.max(step, asked) * (1 + dice / 10));
}
