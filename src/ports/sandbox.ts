/**
 * Runs untrusted code that can reach only what it is given. Each run has a new machine, which is discarded afterwards. Implemented by
 * `src/sandbox/`.
 */
import type { SandboxEnd } from '../core/turn/run-code.ts';
import type { InnerOutcome } from './inner-calls.ts';

export type SandboxRun = {
  /** The body of an async function. Compiled as such, never inserted into other code. */
  source: string;
  args: Record<string, unknown>;
  /** The member names of `tools`. */
  tools: readonly string[];
  /** The fixed value of `Date.now()`; `seed` determines `Math.random()`. */
  now: number;
  seed: string;
  /** Receives the seconds that the code has computed, in parts. */
  used?(seconds: number): void;
  /** Calls a tool. The arguments cross the sandbox boundary as JSON text. */
  call(name: string, args: unknown): Promise<InnerOutcome>;
};

/** Counts what interpreted code computes, for the limit `sandboxSecondsPerMinute` of those who call it. */
export interface ComputeMeter {
  /** Throws `rate_limited` if no seconds are left. */
  require(): Promise<void>;
  spend(seconds: number): void;
}

export interface Sandbox {
  /** Never throws because of the code. */
  run(run: SandboxRun, signal: AbortSignal): Promise<SandboxEnd>;
  /** Returns why the source cannot be compiled, with the line; null if it can. */
  check(source: string): Promise<{ message: string; line: number | null } | null>;
}
