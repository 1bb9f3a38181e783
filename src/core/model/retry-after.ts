/** The `Retry-After` header of upstreams (RFC 9110 §10.2.3). */

/** Maximum forwarded `Retry-After` of a provider: a larger value is a wrong date, and an endless one has no meaning. */
export const maxForwardedRetryAfterMs = 24 * 60 * 60_000;

/** Parses seconds or a date into milliseconds; null if absent or invalid. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = secondsToMs(text);
  if (ms !== null) return ms;
  const date = /^[A-Za-z]{3},/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.min(Math.max(0, date - now), maxForwardedRetryAfterMs);
}

/** Parses a decimal number of seconds, such as `34.4`; null if it is not one. */
export function secondsToMs(text: string): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Math.min(Math.ceil(Number(text) * 1000), maxForwardedRetryAfterMs) : null;
}
