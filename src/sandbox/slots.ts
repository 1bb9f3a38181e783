/** Limits the machines of an isolate: how many run at once, and their total memory. Other runs wait in a queue with a time limit. */
import { limits } from '../core/limits.ts';
import { MB } from '../core/limits/units.ts';

/** All machines of an isolate, which has 128 MB in total. */
const maxSandboxesMemoryBytes = 64 * MB;
/** The maximum wait for a machine. */
const sandboxQueueMs = 10_000;

export type Slot = {
  /** Reports the current memory of the machine. Returns false when the total exceeds the limit. */
  reserve(bytes: number): boolean;
  release(): void;
};

export type Slots = { acquire(signal: AbortSignal): Promise<Slot | 'queue' | 'aborted'> };

/** The memory with which a machine starts. */
const leastBytes = 1_500_000;

export function createSlots(most = { machines: limits.maxSandboxes, bytes: maxSandboxesMemoryBytes, waitMs: sandboxQueueMs }): Slots {
  let machines = 0;
  let bytes = 0;
  const queue: Array<() => void> = [];
  const hasRoom = (): boolean => machines < most.machines && bytes + leastBytes <= most.bytes;
  const begin = (): Slot => {
    let own = leastBytes;
    let isFree = false;
    machines++;
    bytes += own;
    return {
      reserve(now) {
        if (now > own) {
          bytes += now - own;
          own = now;
        }
        return bytes <= most.bytes;
      },
      release() {
        if (isFree) return;
        isFree = true;
        machines--;
        bytes -= own;
        while (queue.length > 0 && hasRoom()) queue.shift()?.();
      },
    };
  };
  return {
    async acquire(signal) {
      if (signal.aborted) return 'aborted';
      if (queue.length === 0 && hasRoom()) return begin();
      return await new Promise((resolve) => {
        const resolveWith = (answer: Slot | 'queue' | 'aborted'): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', stop);
          const place = queue.indexOf(enter);
          if (place >= 0) queue.splice(place, 1);
          resolve(answer);
        };
        const enter = (): void => resolveWith(begin());
        const stop = (): void => resolveWith('aborted');
        const timer = setTimeout(() => resolveWith('queue'), most.waitMs);
        signal.addEventListener('abort', stop, { once: true });
        queue.push(enter);
      });
    },
  };
}
