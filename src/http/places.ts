/**
 * The places of a request in the pools of this isolate (`engine/fair-pool.ts`): one until its response begins, with the bytes of its body, and
 * one for a stream until its end. The root key takes none, apart from its bodies: an operator can always get in.
 */
import { type Principal, rootKeyId } from '../core/people/principal.ts';
import type { GrantedShare, ShareShortage } from '../core/limits/fair-share.ts';
import { isShortage, type Place, requireTaken } from '../engine/fair-pool.ts';
import type { AppContext, HeldPlaces } from './middleware/request-context.ts';

/** Throws `rate_limited` while the key or its workspace has too many requests in progress. */
export function enterRequest(c: AppContext, principal: Principal): void {
  if (principal.keyId === rootKeyId) return;
  hold(c, {
    request: requireTaken(c.get('services').pools.requests.take(principal, { granted: granted(principal, 'concurrentRequests') })),
  });
}

/** Call it before the effect of a request that asks for a stream. Throws `rate_limited` while the key or its workspace has too many. */
export function requireStream(c: AppContext, retryAfterMs?: number): void {
  if (c.get('principal').keyId !== rootKeyId) hold(c, { stream: requireTaken(takeStream(c), retryAfterMs) });
}

/**
 * Returns the place of a response that is a stream, which the caller releases at its end. A response may become one because it takes long: if
 * there is no place for it, it continues to count as a request in progress.
 */
export function keepStreamPlace(c: AppContext): Place {
  const { request, stream } = c.get('held') ?? {};
  if (stream !== undefined) {
    hold(c, { stream: undefined });
    return stream;
  }
  const taken = takeStream(c);
  if (!isShortage(taken)) return taken;
  hold(c, { request: undefined });
  return request ?? c.get('services').pools.streams.takeBeyondLimit(c.get('principal'));
}

export function hold(c: AppContext, places: HeldPlaces): void {
  c.set('held', { ...c.get('held'), ...places });
}

function takeStream(c: AppContext): Place | ShareShortage {
  const principal = c.get('principal');
  return c.get('services').pools.streams.take(principal, { granted: granted(principal, 'openStreams') });
}

function granted({ limits }: Principal, limit: 'concurrentRequests' | 'openStreams'): GrantedShare {
  return { key: limits?.key?.[limit], workspace: limits?.workspace?.[limit] };
}
