/**
 * The timeouts of a call: an idle timeout, which each sign of progress resets, and a limit for the whole call. Used by
 * `execute-call.ts`.
 */
import type { Clock } from '../../ports/runtime.ts';

export type IdleDeadline = {
  /** Starts both timeouts. `late` is called once, with the timeout in milliseconds that expired. */
  start(late: (ms: number) => void): void;
  /** Resets the idle timeout. */
  reset(): void;
  /** Suspends the idle timeout while `work` waits for someone else, such as the user. The limit for the whole call keeps running. */
  pauseDuring<T>(work: Promise<T>): Promise<T>;
  stop(): void;
};

/** `softMs`: the idle timeout. `hardMs`: the limit for the whole call, at least `softMs`, so that a configured timeout is never shortened. */
export function createIdleDeadline(clock: Clock, { softMs, hardMs }: { softMs: number; hardMs: number }): IdleDeadline {
  let late: ((ms: number) => void) | null = null;
  let heardAt = 0;
  let paused = 0;
  let disarmSoft = (): void => undefined;
  let disarmHard = (): void => undefined;
  const end = (ms: number): void => {
    const notify = late;
    disarm();
    notify?.(ms);
  };
  const disarm = (): void => {
    late = null;
    disarmSoft();
    disarmHard();
  };
  /** Uses a single timer: when it fires, it checks when progress was last reported. */
  const wait = (ms: number): void => {
    disarmSoft = clock.after(ms, () => {
      if (late === null) return;
      const left = paused > 0 ? softMs : heardAt + softMs - clock.now();
      if (left > 0) wait(left);
      else end(softMs);
    });
  };
  return {
    start(onLate) {
      late = onLate;
      heardAt = clock.now();
      wait(softMs);
      const most = Math.max(softMs, hardMs);
      disarmHard = clock.after(most, () => end(most));
    },
    reset() {
      heardAt = clock.now();
    },
    async pauseDuring(work) {
      paused += 1;
      try {
        return await work;
      } finally {
        paused -= 1;
        heardAt = clock.now();
      }
    },
    stop: disarm,
  };
}
