/**
 * Gives way: the interpreter runs in this isolate, and a busy script would stall every other request, and keep timers and signals from reaching it.
 * Its statements and the loops of its commands (`interpreter-patch.ts`), its commands (`surround-commands.ts`) and its files (`file-system.ts`) come
 * by here. What does too much without coming by is stopped.
 */
import { limits } from '../../core/limits.ts';
import type { PatternBudget } from './pattern-budget.ts';

export type Turns = {
  /** A point at which others may run, if it is time. `work`: how much was done since the last one, in bytes that were looked at. */
  pass(work?: number): Promise<void>;
  /** The same in two parts, for loops that would be slow if they waited for each step: counts the work, and returns whether it is time. */
  isDue(work: number): boolean;
  giveWay(): Promise<void>;
  /** Called for each step of code that cannot wait (jq). Throws after too many, or too long, without a point in between. */
  step(): void;
};

/** `stalled` is called before a script is stopped here, whatever it makes of the error. `signal`: aborted when the script has ended. */
export function createTurns(
  { patterns, signal, stalled }: { patterns: PatternBudget; signal: AbortSignal; stalled(why: string): void },
  now: () => number = () => performance.now(),
): Turns {
  let since = now();
  let done = 0;
  let steps = 0;
  /** Time of this script's own steps since it gave way: while it waits, others may run, and their time is not its own. */
  let spentMs = 0;
  let stretch: { from: number; to: number } | null = null;
  return { isDue, giveWay, pass, step };

  async function pass(work = 0): Promise<void> {
    if (isDue(work + limits.shellPointBytes)) await giveWay();
  }

  function isDue(work: number): boolean {
    done += work;
    if (patterns.trouble() !== null || signal.aborted) return true;
    // By count as well: on the edge the clock stands still while code runs.
    return done >= limits.shellTurnBytes || patterns.used() >= limits.shellTurnMatching || now() - since >= limits.shellTurnMs;
  }

  async function giveWay(): Promise<void> {
    stopIfTroubled();
    await new Promise((resolve) => setTimeout(resolve, 0));
    // A command would finish its work first: only statements look at the signal.
    signal.throwIfAborted();
    since = now();
    done = 0;
    steps = 0;
    spentMs = 0;
    patterns.renew();
  }

  function step(): void {
    steps += 1;
    stopIfTroubled();
    if (steps > limits.maxShellSteps || spentMs + stretchMs() > limits.maxShellStallMs)
      stop('one command did too much at once. Split its data (head, tail, sed -n) or simplify it');
  }

  /** Length of the synchronous code that this step belongs to; a microtask runs when it has ended. */
  function stretchMs(): number {
    const at = now();
    if (stretch === null) {
      const begun = { from: at, to: at };
      stretch = begun;
      queueMicrotask(() => {
        spentMs += begun.to - begun.from;
        stretch = null;
      });
    }
    stretch.to = at;
    return at - stretch.from;
  }

  /** What was too much for a pattern ends the script, not only the command that may have caught the error. */
  function stopIfTroubled(): void {
    const trouble = patterns.trouble();
    if (trouble !== null) stop(trouble);
  }

  function stop(why: string): never {
    stalled(why);
    throw new Error(why);
  }
}
