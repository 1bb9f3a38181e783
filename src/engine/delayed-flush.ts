/**
 * Sends in the background what an isolate gathers in memory, a while after the first of it, together with what came meanwhile. A flush
 * belongs to the request that began it, which the platform may end without running any more of its code: the next `wake` then takes over.
 */
import type { Clock } from '../ports/runtime.ts';

type Parts = {
  clock: Clock;
  background(work: Promise<unknown>): void;
  delayMs: number;
  /** A flush of this age is treated as lost. */
  takeOverMs: number;
  /** From when on another flush may begin: once this one has taken what there is, once it has ended, or only after `takeOverMs`. */
  next: 'taken' | 'ended' | 'later';
  /** Takes what there is, before it waits for anything, and sends it. */
  flush(): Promise<void>;
  failed(error: unknown): void;
};

/** Returns `wake`, which begins a flush unless there is one. */
export function createDelayedFlush({ clock, background, delayMs, takeOverMs, next, flush, failed }: Parts): () => void {
  let since: number | null = null;

  const run = async (): Promise<void> => {
    try {
      await clock.sleep(delayMs);
      if (next === 'taken') since = null;
      await flush();
    } catch (error) {
      failed(error);
    } finally {
      if (next === 'ended') since = null;
    }
  };

  return () => {
    const now = clock.now();
    // A flush in the future began while the clock was ahead.
    if (since !== null && Math.abs(now - since) < takeOverMs) return;
    since = now;
    background(run());
  };
}
