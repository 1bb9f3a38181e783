/** Time, ids and a log under the test's control. */
import type { Clock, Ids, Logger } from '../../src/ports/runtime.ts';

export type FakeClock = Clock & { advance(ms: number): Promise<void> };

/** Time stands still until advanced; a sleep ends when its time is reached, one of 0 ms at once. */
export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  const sleepers = new Set<{ due: number; wake(): void }>();
  return {
    now: () => now,
    after(ms, run) {
      const sleeper = {
        due: now + ms,
        wake: () => {
          sleepers.delete(sleeper);
          run();
        },
      };
      sleepers.add(sleeper);
      return () => void sleepers.delete(sleeper);
    },
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (ms === 0) return resolve();
        const sleeper = {
          due: now + ms,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      }),
    async advance(ms) {
      now += ms;
      for (const sleeper of [...sleepers]) if (sleeper.due <= now) sleeper.wake();
      // Lets the resolved sleepers run before the test continues.
      for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
    },
  };
}

export function countedIds(): Ids {
  let count = 0;
  return {
    next: (prefix) => {
      count += 1;
      return `${prefix}_${count}`;
    },
  };
}

export type LogLine = { level: string; message: string; fields: Record<string, unknown> };

export function keptLog(): Logger & { lines: LogLine[] } {
  const lines: LogLine[] = [];
  const keep =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}): void => {
      lines.push({ level, message, fields });
    };
  return { lines, error: keep('error'), info: keep('info'), debug: keep('debug') };
}
