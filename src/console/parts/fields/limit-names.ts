/** The limits of keys, agents and workspaces: what they are called, and how their amounts are written. */
import type { components } from '../../../../client/src/index.ts';
import { count, money } from '../../text/format.ts';

type LimitName = keyof components['schemas']['UsageLimits'];

/** Bytes of one unit in the field for storage. */
export const megabyte = 1_048_576;

export const limitNames: readonly (readonly [name: LimitName, label: string])[] = [
  ['requestsPerMinute', 'Requests per minute'],
  ['tokensPerMinute', 'Tokens per minute'],
  ['concurrentTurns', 'Turns at the same time'],
  ['concurrentRequests', 'Requests at the same time'],
  ['openStreams', 'Streams at the same time'],
  ['pendingQuestions', 'Pending questions'],
  ['dailyCost', 'Cost per day (UTC)'],
  ['monthlyCost', 'Cost per month (UTC)'],
  ['storageBytes', 'Storage of its sessions (MB)'],
  ['sandboxSecondsPerMinute', 'Seconds of code per minute'],
];

/** An amount of a limit, without its unit, which the label has. */
export function amount(name: LimitName, value: number): string {
  if (name === 'dailyCost' || name === 'monthlyCost') return money(value);
  const shown = name === 'storageBytes' ? value / megabyte : value;
  return shown >= 100 ? count(Math.round(shown)) : String(Math.round(shown * 10) / 10);
}
