/**
 * Giving way: the shell's interpreter runs in this isolate and never returns to the event loop by itself, so a busy script would stall every
 * other request, and no timer or signal would reach it. Its loops and functions (`script-plan.ts`), its commands (`surround-commands.ts`) and its
 * files (`file-system.ts`) come by here; what comes by too seldom is stopped.
 */
import { limits } from '../../core/limits.ts';
import { forgetMatched, matchedSoFar, takePatternTrouble } from './pattern-engine.ts';

export type Turns = {
  /** A point at which others may run, where it is time for that. `work`: how much was done since the last, in bytes that were looked at. */
  pass(work?: number): Promise<void>;
  /** Said of every step, which cannot wait. Throws after too many, or too long, without a point in between. */
  step(): void;
};

/** `stalled`: told before either throws, whatever becomes of the error. */
export function createTurns(stalled: (why: string) => void, now: () => number = () => performance.now()): Turns {
  let since = now();
  let points = 0;
  let done = 0;
  let steps = 0;
  return {
    async pass(work = 0) {
      points += 1;
      done += work;
      // What was too much for a pattern ends the script, not only the command that may have caught the error.
      const trouble = takePatternTrouble();
      if (trouble !== null) stop(trouble);
      // By count as well: on the edge the clock stands still while code runs.
      const isEarly = points < limits.shellTurnPoints && done < limits.shellTurnBytes && matchedSoFar() < limits.shellTurnMatching;
      if (isEarly && now() - since < limits.shellTurnMs) return;
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = now();
      points = 0;
      done = 0;
      steps = 0;
      forgetMatched();
    },
    step() {
      steps += 1;
      const trouble = takePatternTrouble();
      if (trouble !== null) stop(trouble);
      if (steps > limits.maxShellSteps || now() - since > limits.maxShellStallMs)
        stop('one command did too much at once. Split its data (head, tail, sed -n) or simplify it');
    },
  };

  function stop(why: string): never {
    stalled(why);
    throw new Error(why);
  }
}
