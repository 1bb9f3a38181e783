/** Delays between attempts, as values: for work that waits in place (`engine/retry.ts`), and for work that stores when it is due again. */

export type Backoff = {
  /** The delay after the first failure. */
  firstMs: number;
  /** Each further delay is this many times as long. */
  factor?: number;
  maxMs?: number;
};

/** `failures`: so far, in a row. Returns 0 if there were none. */
export function backoffMs({ firstMs, factor = 2, maxMs = Number.POSITIVE_INFINITY }: Backoff, failures: number): number {
  return failures === 0 ? 0 : Math.min(firstMs * factor ** (failures - 1), maxMs);
}

/** `askedMs`: the `Retry-After` of the other side, if it sent one. `dice`: from 0 to 1, a random number of the caller. */
export type DelayHints = { askedMs?: unknown; maxAskedMs: number; dice?: number };

/**
 * Returns the delay that the other side asked for if it is longer than our own, up to `maxAskedMs`: it can neither postpone an attempt forever
 * nor bring it forward. `dice` lengthens the delay by up to a tenth, so that work that failed at the same time is not retried at the same time.
 */
export function delayOrAsked(ownMs: number, { askedMs, maxAskedMs, dice = 0 }: DelayHints): number {
  const asked = typeof askedMs === 'number' ? Math.min(askedMs, maxAskedMs) : 0;
  return Math.round(Math.max(ownMs, asked) * (1 + dice / 10));
}
