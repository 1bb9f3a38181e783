/** The platform's clock. On Workers it only advances with I/O, so it cannot measure CPU time. */
import type { Clock } from '../ports/runtime.ts';

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = (): void => {
        disarm();
        reject(signal?.reason);
      };
      const disarm = systemClock.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
