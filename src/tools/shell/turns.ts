/**
 * Giving way: the shell's interpreter runs in this isolate and never returns to the event loop by itself, so a busy script would stall every
 * other request, and no timer or signal would reach it. Its loops and functions (`script-plan.ts`) and its files (`file-system.ts`) come by here.
 */
import { limits } from '../../core/limits.ts';

export type Turns = {
  /** A point at which others may run, where it is time for that. `work`: how much was done since the last, in bytes that were looked at. */
  pass(work?: number): Promise<void>;
};

export function createTurns(now: () => number = () => performance.now()): Turns {
  let since = now();
  let points = 0;
  let done = 0;
  return {
    async pass(work = 0) {
      points += 1;
      done += work;
      // By count as well: on the edge the clock stands still while code runs.
      if (points < limits.shellTurnPoints && done < limits.shellTurnBytes && now() - since < limits.shellTurnMs) return;
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = now();
      points = 0;
      done = 0;
    },
  };
}
