/**
 * Waiting for what another request has already asked for. That request may be ended by the platform when its client
 * leaves, and then what it asked for never comes: so who waits has patience of its own, and then asks itself.
 */
import { limits } from '../core/limits.ts';
import { withTimeLimit } from '../net/time-limit.ts';

const abandoned = Symbol('abandoned');

export async function joinFlight<T>(underWay: Promise<T>, askAgain: () => Promise<T>): Promise<T> {
  const answer = await withTimeLimit<T | typeof abandoned>(underWay, limits.catalogTimeoutMs, () => abandoned);
  return answer === abandoned ? await askAgain() : answer;
}
