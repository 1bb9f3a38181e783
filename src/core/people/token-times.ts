/**
 * The times in tokens. One rule for all of them: clocks differ by at most `clockSkewMs`, so nothing was made later than that, and what
 * expires later than its lifetime allows was made then (docs/credentials.md).
 */

export const clockSkewMs = 60_000;

/** Whether something that we signed is still valid. `lifetimeMs`: the longest that it is made for. */
export function isValidUntil(until: unknown, now: number, lifetimeMs: number): until is number {
  return typeof until === 'number' && until > now && until <= now + lifetimeMs + clockSkewMs;
}

/** Whether something may have been made at this time. */
export function isPossibleStart(at: number, now: number): boolean {
  return at >= 0 && at <= now + clockSkewMs;
}
