/** Measures how long code in the sandbox holds the thread. */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIn } from './harness.ts';
import type { SandboxEnd } from '../../src/core/code-result.ts';

export type Hold = { end: SandboxEnd; holdMs: number };

/**
 * `holdMs`: the most that the thread worked between two turns of its event loop. Processor time, which other processes do not change; a
 * frozen `Date.now` does not change it either.
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
