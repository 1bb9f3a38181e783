/**
 * Joins a load that another request has started. The platform may cancel that request when its client disconnects, and the load then
 * never settles: after a timeout the caller starts its own.
 */
import { limits } from '../core/limits.ts';
import { withTimeLimit } from '../net/time-limit.ts';

const abandoned = Symbol('abandoned');

export async function joinInFlight<T>(inFlight: Promise<T>, reload: () => Promise<T>): Promise<T> {
  const answer = await withTimeLimit<T | typeof abandoned>(inFlight, limits.catalogTimeoutMs, () => abandoned);
  return answer === abandoned ? await reload() : answer;
}
