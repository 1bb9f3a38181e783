/** When a callback that was not taken is sent again. Pure: the moment and the dice are given. */
import { limits } from '../../limits.ts';

/**
 * Milliseconds from the end of the attempt with this number (from 1) to the next; null: that was the last. A receiver that says when to
 * come back is heard as far as the step after this one: no answer can put a message off for ever, or bring it sooner. `dice`: from 0
 * to 1, spreads what failed together by a tenth.
 */
export function nextAttemptMs(attempt: number, retryAfterMs: number | null, dice: number): number | null {
  const steps: readonly number[] = limits.callbackRetriesMs;
  const step = steps[attempt - 1];
  if (step === undefined) return null;
  const asked = Math.min(retryAfterMs ?? 0, steps[attempt] ?? step);
  return Math.round(Math.max(step, asked) * (1 + dice / 10));
}
