/**
 * Measures how much of the thread a machine uses, against its limits. Fuel is the main measure: on Cloudflare the clock does not
 * advance while code runs, and elsewhere other processes share the processor. Where the clock advances, time is limited too, because
 * code that misses the processor's caches takes many times as long for the same fuel.
 */
import type { Fuel } from './engine.ts';

/** One uninterrupted stretch of work: 2 million loop iterations of the code, about 200 ms. */
const maxSandboxStretchFuel = 75_000_000;
/** A whole run. */
const maxSandboxFuel = 400_000_000;
/** The same two limits in time, where the clock advances: for fuel that takes longer than usual, and for slow machines. */
export const maxSandboxStretchMs = 500;
const maxSandboxMs = 2_000;

export type Meter = {
  /** Runs a stretch of the machine's work without interruption, and counts what it uses. */
  run<Value>(work: () => Value): Value;
  /** Counts work that the host does for the machine during the stretch. */
  add(fuel: number): void;
  /** Counts work that the host will do after the stretch. */
  addLater(fuel: number): void;
  /** Called when the fuel is used up. Returns false when the machine has reached a limit. */
  refuel(): boolean;
  isSpent(): boolean;
};

/** Fuel between two calls of the host: a few milliseconds at most. */
const portion = 500_000;
/** Fuel for the host's own work in a stretch, however short. */
const stretchFuel = 2_000;

/** Creates a meter. `report` receives what each stretch used. */
export function createMeter(fuel: Fuel, now: () => number, report: (fuel: number, ms: number) => void): Meter {
  const total = { fuel: 0, ms: 0 };
  const stretch = { fuel: 0, ms: 0 };
  let given = 0;
  /** When the current stretch was last counted; null between stretches, when time does not count. */
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
    total.fuel + stretch.fuel > maxSandboxFuel ||
    total.ms + stretch.ms > maxSandboxMs ||
    stretch.fuel > maxSandboxStretchFuel ||
    stretch.ms > maxSandboxStretchMs;
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
    add(units) {
      stretch.fuel += units;
    },
    addLater(units) {
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
