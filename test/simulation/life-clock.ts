/** Replaces `platform/clock.ts`: the clock of the current process, where the real one uses the platform's timers. */
import type { Clock } from '../../src/ports/runtime.ts';

let clock: Clock | null = null;

export function setSystemClock(own: Clock): void {
  clock = own;
}

export const systemClock: Clock = {
  now: () => current().now(),
  after: (ms, run) => current().after(ms, run),
  sleep: (ms, signal) => current().sleep(ms, signal),
};

function current(): Clock {
  if (clock === null) throw new Error('no process has set its clock');
  return clock;
}
