/**
 * Checks the signed time: seconds since the epoch, at most `limits.webhookToleranceSeconds` from the current time in both directions,
 * inclusive.
 */
import { limits } from '../../limits.ts';

/**
 * Returns why the time is rejected; null: valid. Accepts canonical decimal integers only: the text itself is signed, and parsing
 * `1614265330.5` or `0x6037bbf2` as a number would check a different time.
 */
export function timeFault(text: string | null, now: number): string | null {
  if (text === null || text === '') return 'the time of sending is missing';
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return 'the time of sending is not a number of seconds';
  const age = Math.floor(now / 1000) - Number(text);
  if (age > limits.webhookToleranceSeconds) return `it was sent ${age} s ago; at most ${limits.webhookToleranceSeconds} s are accepted`;
  if (age < -limits.webhookToleranceSeconds)
    return `its time is ${-age} s ahead of the clock of this service; at most ${limits.webhookToleranceSeconds} s are accepted`;
  return null;
}
