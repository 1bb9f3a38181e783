/**
 * Yields to other requests. The interpreter runs in this isolate, where a busy script would block every other request and delay timers and
 * signals. Its statements, the loops of its commands (`interpreter-patch.ts`), its commands (`wrap-commands.ts`) and its files
 * (`file-system.ts`) call these functions. A script that does too much work without a call is stopped.
 */
import type { ThreadShare } from '../../platform/thread-share.ts';
import type { PatternBudget } from './pattern-budget.ts';
import { KB } from '../../core/limits/units.ts';

/** How often a script yields: after this many bytes read or processed, this much time, or this much matching. */
const shellYieldBytes = 512 * KB;
/** The fixed cost of a command, in addition to its bytes. */
const shellYieldCostBytes = 8 * KB;
const shellTurnMs = 20;
const shellTurnMatching = 400_000;
/**
 * Synchronous work blocks the isolate: one match, one jq program, one gzip. Each is limited to about a second by its input
 * (`maxShellCommandBytes`), by its matching, or by these steps. jq steps of unknown cost (repeated copies of one long array) are
 * also stopped by the clock, which a busy machine uses up as well, so the time limit is not shorter. On the edge the clock does not
 * advance during such work, and the platform's CPU limit is the last bound.
 */
const maxShellSteps = 2_000_000;
const maxShellStallMs = 1_500;
/** What a script computes in total, without the time in which it waits. */
const maxShellComputeSeconds = 15;
/** About the time of a byte, and of a unit of matching, for clocks that stand still while code runs. */
const secondsPerByte = 5e-9;
const secondsPerMatching = 5e-8;

export type TimeSlices = ReturnType<typeof createTimeSlices>;

/**
 * `stalled` is called before a script is stopped here, even if the script catches the error. `signal`: aborted when the script has ended.
 */
export function createTimeSlices(
  { patterns, signal, stalled, share }: { patterns: PatternBudget; signal: AbortSignal; stalled(why: string): void; share: ThreadShare },
  now: () => number = () => performance.now(),
) {
  let since = now();
  let done = 0;
  let steps = 0;
  /** Time of this script's own steps since it last yielded. Time in which it waits and others run does not count. */
  let spentMs = 0;
  let stretch: { from: number; to: number } | null = null;
  const computed = { ms: 0, bytes: 0, matching: 0 };
  return { isDue, yieldToOthers, pass, step, wait, seconds };

  /** Lets other requests run, if it is time. `work`: bytes processed since the last call. */
  async function pass(work = 0): Promise<void> {
    if (isDue(work + shellYieldCostBytes)) await yieldToOthers();
  }

  /**
   * `pass` in two parts, for loops that would be slow if they awaited each step: counts the work, and returns whether it is time to call
   * `pass`.
   */
  function isDue(work: number): boolean {
    done += work;
    computed.bytes += work;
    if (patterns.exceededReason() !== null || signal.aborted) return true;
    // Also limited by count: on Cloudflare the clock stands still while code runs.
    return done >= shellYieldBytes || patterns.used() >= shellTurnMatching || now() - since >= shellTurnMs;
  }

  async function yieldToOthers(): Promise<void> {
    stopIfBudgetExceeded();
    if (seconds() > maxShellComputeSeconds)
      stop(`it computed for more than ${maxShellComputeSeconds} s. Split the work into smaller calls, and use text tools over whole files`);
    computed.matching += patterns.used();
    patterns.renew();
    share.recordUse(done, now() - since);
    await wait(new Promise((resolve) => setTimeout(resolve, 0)));
    // Longer if all scripts and machines together have run for a while: each of them alone would leave others little time.
    await wait(share.acquire(signal));
    // A command would otherwise finish its work first: only statements check the signal.
    signal.throwIfAborted();
    done = 0;
    steps = 0;
    spentMs = 0;
  }

  /** Waits for something else than the script's own work, which does not count as computing. */
  async function wait<Value>(work: Promise<Value>): Promise<Value> {
    computed.ms += now() - since;
    since = now();
    try {
      return await work;
    } finally {
      since = now();
    }
  }

  /** The seconds that the script has computed. */
  function seconds(): number {
    const units = computed.bytes * secondsPerByte + (computed.matching + patterns.used()) * secondsPerMatching;
    return Math.max((computed.ms + now() - since) / 1_000, units);
  }

  /** Called for each step of code that cannot wait (jq). Throws after too many steps, or too long a time, without a yield. */
  function step(): void {
    steps += 1;
    stopIfBudgetExceeded();
    if (steps > maxShellSteps || spentMs + stretchMs() > maxShellStallMs)
      stop('one command did too much work at once. Split its data (head, tail, sed -n) or simplify it');
  }

  /** Returns the duration of the synchronous code that this step belongs to; a microtask runs when it has ended. */
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

  /** Ends the script when a pattern exceeded the budget, since the command may have caught the error. */
  function stopIfBudgetExceeded(): void {
    const trouble = patterns.exceededReason();
    if (trouble !== null) stop(trouble);
  }

  function stop(why: string): never {
    stalled(why);
    throw new Error(why);
  }
}
