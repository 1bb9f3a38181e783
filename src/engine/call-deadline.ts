/**
 * The time that a call has: so much without a word of it, begun anew with each word, and never more than so much altogether. Used by
 * `execute-call.ts`.
 */
import type { Clock } from '../ports/runtime.ts';

export type Deadline = {
  /** `late` is called once, with the time in milliseconds that ran out. */
  arm(late: (ms: number) => void): void;
  /** It is still at work: the time without a word begins anew. */
  again(): void;
  /** Somebody else is waited for meanwhile, such as a person: only the time altogether goes on. */
  during<T>(work: Promise<T>): Promise<T>;
  disarm(): void;
};

/** `hardMs` counts where it is the longer one: a time that somebody set is never cut short. */
export function createDeadline(clock: Clock, { softMs, hardMs }: { softMs: number; hardMs: number }): Deadline {
  let late: ((ms: number) => void) | null = null;
  let heardAt = 0;
  let paused = 0;
  let disarmSoft = (): void => undefined;
  let disarmHard = (): void => undefined;
  const end = (ms: number): void => {
    const tell = late;
    disarm();
    tell?.(ms);
  };
  const disarm = (): void => {
    late = null;
    disarmSoft();
    disarmHard();
  };
  /** One timer, however often something is heard: it looks when it rings. */
  const wait = (ms: number): void => {
    disarmSoft = clock.after(ms, () => {
      if (late === null) return;
      const left = paused > 0 ? softMs : heardAt + softMs - clock.now();
      if (left > 0) wait(left);
      else end(softMs);
    });
  };
  return {
    arm(told) {
      late = told;
      heardAt = clock.now();
      wait(softMs);
      const most = Math.max(softMs, hardMs);
      disarmHard = clock.after(most, () => end(most));
    },
    again() {
      heardAt = clock.now();
    },
    async during(work) {
      paused += 1;
      try {
        return await work;
      } finally {
        paused -= 1;
        heardAt = clock.now();
      }
    },
    disarm,
  };
}
