/**
 * Loop detection: every outgoing request carries a header that names this installation, and an incoming request with that name is a loop
 * through another host name. Both halves are here.
 */
import { sha256Hex } from '../core/hash.ts';
import { Problem } from '../core/problem.ts';

export const hopHeader = 'x-moniker-hop';

/** Returns a name that is the same in every isolate of one installation and reveals nothing: half a digest of its master key. */
export type InstanceName = () => Promise<string>;

export function createInstanceName(masterKey: string): InstanceName {
  let name: string | null = null;
  return async () => {
    // Caches the value, not the promise: on Workers, a promise belongs to the request that created it.
    name ??= (await sha256Hex(`moniker hop ${masterKey}`)).slice(0, 32);
    return name;
  };
}

export function markHop(headers: Headers, instance: string): void {
  headers.set(hopHeader, instance);
}

/** Throws `loop_detected` for a request that this installation sent itself. */
export function refuseOwnHop(headers: Headers, instance: string): void {
  if (headers.get(hopHeader) === instance)
    throw new Problem('loop_detected', 'Loop detected: this request was sent by the same Moniker installation.');
}
