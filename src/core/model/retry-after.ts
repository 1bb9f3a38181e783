/** When a request may be repeated, as upstreams say it: in headers (RFC 9110 §10.2.3, OpenAI's `retry-after-ms`), or in the text of an error. */

/** Maximum forwarded `Retry-After` of a provider: a larger value is a wrong date, and an endless one has no meaning. */
export const maxForwardedRetryAfterMs = 24 * 60 * 60_000;

/** Parses seconds or a date into milliseconds; null if absent or invalid. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null;
  const text = header.trim();
  const ms = secondsToMs(text);
  if (ms !== null) return ms;
  // HTTP dates begin with a day, ISO dates with a year.
  const date = /^([A-Za-z]{3,9},? |\d{4}-)/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.min(Math.max(0, date - now), maxForwardedRetryAfterMs);
}

/** Returns the delay that the headers of a response name; null: none. */
export function delayInHeaders(headers: Headers, now: number): number | null {
  const exactMs = headers.get('retry-after-ms')?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(exactMs)) return Math.min(Math.ceil(Number(exactMs)), maxForwardedRetryAfterMs);
  return retryAfterMs(headers.get('retry-after'), now);
}

/** Parses a decimal number of seconds, such as `34.4`; null if it is not one. */
export function secondsToMs(text: string): number | null {
  return /^\d+(\.\d+)?$/.test(text) ? Math.min(Math.ceil(Number(text) * 1000), maxForwardedRetryAfterMs) : null;
}

/** Returns the delay in a sentence such as "Please try again in 11.054s", "try again in 6m0s" or "retry after 26 seconds"; null: none. */
export function delayInText(text: string): number | null {
  const [, delay] = delayPattern.exec(text.slice(0, 4_096)) ?? [];
  if (delay === undefined) return null;
  let ms = 0;
  for (const [, number, unit = ''] of delay.matchAll(/(\d+(?:\.\d+)?)\s?(ms|milli|[smhd])/gi))
    ms += Number(number) * (unitMs[unit.toLowerCase()] ?? 0);
  return Math.min(Math.ceil(ms), maxForwardedRetryAfterMs);
}

const delayPattern =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h|hours?|d|days?)(?![a-z])\s?){1,4})/i;
const unitMs: Readonly<Record<string, number>> = { ms: 1, milli: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
