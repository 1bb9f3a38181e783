/**
 * Joins a load that another request has started. The platform may cancel that request when its client disconnects, and the load then
 * never settles: after a timeout the caller starts its own.
 */
import { limits } from '../core/limits.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';

const abandoned = Symbol('abandoned');

export async function joinInFlight<T>(inFlight: Promise<T>, reload: () => Promise<T>): Promise<T> {
  const answer = await withTimeout<T | typeof abandoned>(systemClock, inFlight, limits.catalogTimeoutMs, () => abandoned);
  return answer === abandoned ? await reload() : answer;
}
