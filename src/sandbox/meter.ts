/**
 * How much of the thread a machine uses, against its bounds. Fuel is what counts: the clock stands still on the edge while code runs, and
 * elsewhere other processes take the processor. Where the clock does advance, time is bounded too, since fuel that misses the processor's
 * caches takes many times as long as other fuel.
 */
import { limits } from '../core/limits.ts';
import type { Fuel } from './engine.ts';

export type Meter = {
  /** Runs a stretch of the machine's work, which nothing else interrupts, and counts what it takes. */
  run<Value>(work: () => Value): Value;
  /** Counts work that the host does for the machine during the stretch. */
  spend(fuel: number): void;
  /** Counts work that the host will do after the stretch. */
  spendLater(fuel: number): void;
  /** Called when the fuel is used up. False: the machine is at one of its bounds. */
  refuel(): boolean;
  isSpent(): boolean;
};

/** What a machine gets before the host is asked again: a few milliseconds at most. */
const portion = 500_000;
/** What the host needs for a stretch, however short. */
const stretchFuel = 2_000;

/** `report` receives what each stretch took. */
export function createMeter(fuel: Fuel, now: () => number, report: (fuel: number, ms: number) => void): Meter {
  const total = { fuel: 0, ms: 0 };
  const stretch = { fuel: 0, ms: 0 };
  let given = 0;
  /** When the current stretch was last counted; null: between two of them, where time is not the machine's. */
  let since: number | null = null;
  fuel.value = 0;
  const count = (): void => {
    stretch.fuel += given - fuel.value;
    given = fuel.value;
    if (since === null) return;
    const at = now();
    stretch.ms += at - since;
    since = at;
  };
  const isSpent = (): boolean =>
    total.fuel + stretch.fuel > limits.maxSandboxFuel ||
    total.ms + stretch.ms > limits.maxSandboxMs ||
    stretch.fuel > limits.maxSandboxStretchFuel ||
    stretch.ms > limits.maxSandboxStretchMs;
  return {
    run(work) {
      total.fuel += stretch.fuel;
      total.ms += stretch.ms;
      stretch.fuel = stretchFuel;
      stretch.ms = 0;
      since = now();
      try {
        return work();
      } finally {
        count();
        since = null;
        report(stretch.fuel, stretch.ms);
      }
    },
    spend(units) {
      stretch.fuel += units;
    },
    spendLater(units) {
      total.fuel += units;
    },
    refuel() {
      count();
      if (isSpent()) return false;
      given = portion;
      fuel.value = portion;
      return true;
    },
    isSpent,
  };
}
