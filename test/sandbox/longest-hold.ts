/** Measures how long code in the sandbox blocks the thread. */
import { measureHold } from '../measure-hold.ts';
import { runIn } from './harness.ts';
import type { SandboxEnd } from '../../src/core/turn/run-code.ts';

export type Hold = { end: SandboxEnd; holdMs: number };

/** `holdMs`: as `measureHold` returns it. */
export async function longestHold(code: string): Promise<Hold> {
  const { value: end, holdMs } = await measureHold(() => runIn(code));
  return { end, holdMs };
}
