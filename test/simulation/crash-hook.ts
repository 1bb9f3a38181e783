/** Replaces `core/failpoint.ts`: the current simulated run decides what happens to a process at a named point. */
import type { Failpoint } from '../../src/core/failpoint.ts';

type Passing = (name: Failpoint) => void | Promise<void>;

let pass: Passing = () => undefined;

export function onCrashPoint(passing: Passing): void {
  pass = passing;
}

export function failpoint(name: Failpoint): void | Promise<void> {
  return pass(name);
}
