/** Replaces `net/time-limit.ts`: waits on the clock of the current process, where the real one uses the platform's timer. */
import type { Clock } from '../../src/ports/runtime.ts';

let clock: Clock | null = null;

export function limitTimeBy(own: Clock): void {
  clock = own;
}

export async function withTimeLimit<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  let disarm = (): void => undefined;
  const over = new Promise<T>((resolve, reject) => {
    disarm =
      clock?.after(ms, () => {
        try {
          resolve(late());
        } catch (error) {
          reject(error);
        }
      }) ?? disarm;
  });
  return await Promise.race([work, over]).finally(disarm);
}
