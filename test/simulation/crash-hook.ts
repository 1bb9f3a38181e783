/** Stands in for `core/crash-point.ts`: the simulated run at hand says what happens to a process that comes to a named point. */
import type { CrashPoint } from '../../src/core/crash-point.ts';

type Passing = (name: CrashPoint) => void | Promise<void>;

let pass: Passing = () => undefined;

export function onCrashPoint(passing: Passing): void {
  pass = passing;
}

export function crashPoint(name: CrashPoint): void | Promise<void> {
  return pass(name);
}
