/**
 * Checks the signed time: seconds since the epoch, at most `webhookToleranceSeconds` from the current time in both directions,
 * inclusive.
 */

/** Maximum difference between a signed time and ours, in both directions (Standard Webhooks, Slack, Stripe: 5 minutes). */
export const webhookToleranceSeconds = 300;

/**
 * Returns why the time is rejected; null: valid. Accepts canonical decimal integers only: the text itself is signed, and parsing
 * `1614265330.5` or `0x6037bbf2` as a number would check a different time.
 */
export function timeFault(text: string | null, now: number): string | null {
  if (text === null || text === '') return 'the time of sending is missing';
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return 'the time of sending is not a number of seconds';
  const age = Math.floor(now / 1000) - Number(text);
  if (age > webhookToleranceSeconds) return `it was sent ${age} s ago; at most ${webhookToleranceSeconds} s are accepted`;
  if (age < -webhookToleranceSeconds)
    return `its time is ${-age} s ahead of the clock of this service; at most ${webhookToleranceSeconds} s are accepted`;
  return null;
}
