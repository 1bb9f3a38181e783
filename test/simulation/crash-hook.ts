/** Stands in for `core/crash-point.ts`: the simulated run at hand says whether the process dies at a named point. */
import type { CrashPoint } from '../../src/core/crash-point.ts';

let diesAt: (name: CrashPoint) => boolean = () => false;

export function onCrashPoint(dies: (name: CrashPoint) => boolean): void {
  diesAt = dies;
}

export function crashPoint(name: CrashPoint): void | Promise<void> {
  if (diesAt(name)) return new Promise(() => undefined);
}
