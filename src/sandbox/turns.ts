/**
 * Shares the thread of an isolate. Machines work one after the other in any case; what is shared out here is the event loop: after so much work
 * of all machines together, none works until a timer has fired, so that requests and timers of others are handled however many machines run.
 */
import { limits } from '../core/limits.ts';

/** The part of one machine. */
export type Turns = {
  /** Waits until the machine may work: at once, or after a rest. False: it has waited too long in its whole run. */
  take(signal: AbortSignal | null): Promise<boolean>;
  /** Whether it has to wait. */
  isResting(): boolean;
  /** Counts work that the machine has done, or the host for it. */
  spend(fuel: number, ms: number): void;
};

type Bounds = { fuel: number; ms: number; restMs: number; waitMs: number };

const bounds: Bounds = {
  fuel: limits.sandboxTurnFuel,
  ms: limits.sandboxTurnMs,
  restMs: limits.sandboxRestMs,
  waitMs: limits.maxSandboxTurnWaitMs,
};

/** Returns what gives each machine its part. */
export function createTurns(now: () => number, { fuel: maxFuel, ms: maxMs, restMs, waitMs }: Bounds = bounds): () => Turns {
  const used = { fuel: 0, ms: 0 };
  let rest = 0;
  /** The last rest that has ended. A timer ends a rest, never the clock: it may stand still, or have advanced while the thread was held. */
  let ended = 0;
  return () => {
    /** This machine began the rest: the others go first. */
    let isLast = false;
    let waited = 0;
    const isResting = (): boolean => ended < rest;
    return {
      isResting,
      async take(signal) {
        while (isResting()) {
          if (waited > waitMs) return false;
          if (signal?.aborted) return true;
          const [current, began, ms] = [rest, now(), isLast ? restMs * 2 : restMs];
          isLast = false;
          await sleep(ms);
          // The request whose timer should end the rest may be gone.
          ended = Math.max(ended, current);
          waited += Math.max(ms, now() - began);
        }
        isLast = false;
        return true;
      },
      spend(fuel, ms) {
        used.fuel += fuel;
        used.ms += ms;
        if (isResting() || (used.fuel < maxFuel && used.ms < maxMs)) return;
        used.fuel = 0;
        used.ms = 0;
        isLast = true;
        const current = ++rest;
        setTimeout(() => (ended = Math.max(ended, current)), restMs);
      },
    };
  };
}

/** Of this isolate: all machines, and the compiler. */
export const isolateTurns = createTurns(Date.now);

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
