/** Replaces `core/crash-point.ts`: the current simulated run decides what happens to a process at a named point. */
import type { CrashPoint } from '../../src/core/crash-point.ts';

type Passing = (name: CrashPoint) => void | Promise<void>;

let pass: Passing = () => undefined;

export function onCrashPoint(passing: Passing): void {
  pass = passing;
}

export function crashPoint(name: CrashPoint): void | Promise<void> {
  return pass(name);
}
