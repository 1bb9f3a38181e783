/** The time that a sender signed: seconds since the epoch, within `limits.webhookToleranceSeconds` of ours on both sides, ends included. */
import { limits } from '../../limits.ts';

/**
 * Why the time is refused; null: it is right. Decimal integers only, written in the one way there is: what is signed is this very text, and
 * reading `1614265330.5` or `0x6037bbf2` as a number would judge another time than was signed.
 */
export function timeFault(text: string | null, now: number): string | null {
  if (text === null || text === '') return 'the time of sending is missing';
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return 'the time of sending is not a number of seconds';
  const age = Math.floor(now / 1000) - Number(text);
  if (age > limits.webhookToleranceSeconds) return `it was sent ${age} s ago; at most ${limits.webhookToleranceSeconds} are let pass`;
  if (age < -limits.webhookToleranceSeconds)
    return `it is from ${-age} s ahead of our clock; at most ${limits.webhookToleranceSeconds} are let pass`;
  return null;
}
