/**
 * The loop brake: every request that leaves names this installation, and a request that comes in with that name has come
 * round through some other host name. Both halves of the mark are here.
 */
import { Problem } from '../core/problem.ts';

const hopHeader = 'x-moniker-hop';

/** `instance` is any opaque text that is the same in every isolate of one installation and tells nothing. */
export function markHop(headers: Headers, instance: string): void {
  headers.set(hopHeader, instance);
}

/** Throws `loop_detected` for a request that this installation sent itself. */
export function refuseOwnHop(headers: Headers, instance: string): void {
  if (headers.get(hopHeader) === instance) throw new Problem('loop_detected', 'This Moniker was asked to call itself.');
}
