/**
 * Shares the thread of an isolate between machines, scripts of the shell, and other work. Machines never run at the same time. After a certain
 * amount of work of all of them together, none runs until a timer has fired, so that requests and timers are handled however many there are.
 * Keys take turns: those of the key that caused the pause come after those of the others, however many it has.
 */
import type { ShareOwner } from '../core/limits/fair-share.ts';
import { systemClock } from './clock.ts';

/**
 * Work of all virtual machines of an isolate together, after which all pause for `sandboxRestMs`, so that other requests are
 * handled.
 */
const sandboxSliceFuel = 25_000_000;
const sandboxTurnMs = 125;
const sandboxPauseMs = 10;
/** The total time that a machine waits for the thread in one run while others use it. */
const maxSandboxSliceWaitMs = 6_000;

/** The share of one machine or script. */
export type ThreadShare = {
  /** Waits until the machine may run: at once, or after a pause. Returns false when it has waited too long in its whole run. */
  acquire(signal: AbortSignal | null): Promise<boolean>;
  /** True while the machine has to wait. */
  isResting(): boolean;
  /** Counts work that the machine, or the host for it, has done. */
  recordUse(fuel: number, ms: number): void;
};

type Bounds = { fuel: number; ms: number; restMs: number; waitMs: number };

const bounds: Bounds = { fuel: sandboxSliceFuel, ms: sandboxTurnMs, restMs: sandboxPauseMs, waitMs: maxSandboxSliceWaitMs };

/**
 * Returns a function that creates the share of a machine or script, for the key whose code it runs. Without one it is on its own. `maxWaitMs`: for
 * those that are not ended by their own timeout.
 */
export function createThreadShares(
  now: () => number,
  { fuel: maxFuel, ms: maxMs, restMs, waitMs }: Bounds = bounds,
): (owner?: ShareOwner, maxWaitMs?: number) => ThreadShare {
  const used = { fuel: 0, ms: 0 };
  let rest = 0;
  /** The last pause that has ended. A timer ends a pause, not the clock, which may stand still or advance while the thread is blocked. */
  let ended = 0;
  /** Whose machine caused the pause. */
  let lastOwner: string | null = null;
  let shares = 0;
  return (given, maxWaitMs = waitMs) => {
    shares += 1;
    const owner = given === undefined ? String(shares) : `${given.workspace} ${given.keyId}`;
    /** True when this machine caused the pause: the others then run first. */
    let isLast = false;
    let waited = 0;
    const isResting = (): boolean => ended < rest;
    return {
      isResting,
      async acquire(signal) {
        while (isResting()) {
          if (waited > maxWaitMs) return false;
          if (signal?.aborted) return true;
          // Those of other keys first, then the other machines of the key.
          const [current, began, ms] = [rest, now(), isLast ? restMs * 2 : owner === lastOwner ? restMs * 1.5 : restMs];
          isLast = false;
          await systemClock.sleep(ms);
          // The request whose timer should end the pause may have been cancelled.
          ended = Math.max(ended, current);
          waited += Math.max(ms, now() - began);
        }
        isLast = false;
        return true;
      },
      recordUse(fuel, ms) {
        used.fuel += fuel;
        used.ms += ms;
        if (isResting() || (used.fuel < maxFuel && used.ms < maxMs)) return;
        used.fuel = 0;
        used.ms = 0;
        isLast = true;
        lastOwner = owner;
        const current = ++rest;
        setTimeout(() => (ended = Math.max(ended, current)), restMs);
      },
    };
  };
}

/** The share of this isolate, for all machines, the compiler, and scripts. */
export const isolateThreadShare = createThreadShares(Date.now);
