/** Measures how long code in the sandbox blocks the thread. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIn } from './harness.ts';
import type { SandboxEnd } from '../../src/core/code-mode/run-code.ts';

export type Hold = { end: SandboxEnd; holdMs: number };

/**
 * `holdMs`: the longest work between two iterations of the event loop, in processor time, which neither other processes nor a frozen
 * `Date.now` change.
 */
export async function longestHold(code: string): Promise<Hold> {
  let isDone = false;
  let holdMs = 0;
  const watching = (async () => {
    for (let last = workedMs(); !isDone; last = workedMs()) {
      await sleep(1);
      holdMs = Math.max(holdMs, workedMs() - last);
    }
  })();
  const end = await runIn(code);
  isDone = true;
  await watching;
  return { end, holdMs };
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
