/**
 * How much of its time a machine has had. The clock stands still on the edge while code runs, so what is counted is the engine's own polls
 * (loops and calls); where the clock does move, time counts too, since one call may be a second of sorting.
 */
import { limits } from '../core/limits.ts';

export type Meter = {
  /** The engine asks, after so many polls. */
  count(polls: number): void;
  /** Work of the host for it. */
  spend(ticks: number): void;
  /** Around all that the machine does. */
  enter(): void;
  leave(): void;
  /** Others have run since. */
  newSlice(): void;
  /** Whether others should run before its next job. */
  isSliceSpent(): boolean;
  isSpent(): boolean;
};

const pollsOfTick = 10_000;
/** Below it, the machine may just not have had the processor. */
const leastMs = 20;
/** Milliseconds that count as a tick. More than one takes, for the same reason. */
const msOfTick = 4;

export function createMeter(now: () => number): Meter {
  let total = 0;
  let slice = 0;
  let since = 0;
  const spend = (ticks: number): void => {
    total += ticks;
    slice += ticks;
  };
  const countTime = (): void => {
    const at = now();
    if (at - since > leastMs) spend((at - since) / msOfTick);
    since = at;
  };
  const isSpent = (): boolean => total > limits.maxSandboxTicks || slice > limits.maxSandboxSliceTicks;
  return {
    count(polls) {
      spend(polls / pollsOfTick);
      countTime();
    },
    spend,
    enter() {
      since = now();
    },
    leave: countTime,
    newSlice() {
      slice = 0;
    },
    isSliceSpent: () => slice > limits.maxSandboxSliceTicks / 4,
    isSpent,
  };
}
