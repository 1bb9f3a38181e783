/**
 * The loop brake: every request that leaves names this installation, and a request that comes in with that name has come
 * round through some other host name. Both halves of the mark are here.
 */
import { sha256Hex } from '../core/hash.ts';
import { Problem } from '../core/problem.ts';

export const hopHeader = 'x-moniker-hop';

/** A name that is the same in every isolate of one installation and tells nothing: half a digest of its master key. */
export type InstanceName = () => Promise<string>;

export function createInstanceName(masterKey: string): InstanceName {
  let name: string | null = null;
  return async () => {
    // The value is kept, not the promise: one request's promise is no business of another's.
    name ??= (await sha256Hex(`moniker hop ${masterKey}`)).slice(0, 32);
    return name;
  };
}

export function markHop(headers: Headers, instance: string): void {
  headers.set(hopHeader, instance);
}

/** Throws `loop_detected` for a request that this installation sent itself. */
export function refuseOwnHop(headers: Headers, instance: string): void {
  if (headers.get(hopHeader) === instance) throw new Problem('loop_detected', 'This Moniker was asked to call itself.');
}
