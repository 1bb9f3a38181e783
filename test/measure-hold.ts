/** Measures how long work blocks the thread. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `holdMs`: the longest work between two iterations of the event loop; `totalMs`: all of it. In processor time, which neither other processes
 * nor a frozen `Date.now` change.
 */
export async function measureHold<Value>(work: () => Promise<Value>): Promise<{ value: Value; holdMs: number; totalMs: number }> {
  let isDone = false;
  let holdMs = 0;
  const began = workedMs();
  const watching = (async () => {
    for (let last = began; !isDone; last = workedMs()) {
      await sleep(1);
      holdMs = Math.max(holdMs, workedMs() - last);
    }
  })();
  const value = await work();
  const totalMs = workedMs() - began;
  isDone = true;
  await watching;
  return { value, holdMs, totalMs };
}

function workedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
