/**
 * Code that somebody else wrote, run where it can reach nothing but what it is given. One machine a run, thrown away after it, whatever came
 * of it. Implemented by `src/sandbox/`.
 */
import type { SandboxEnd } from '../core/code-result.ts';
import type { InnerAnswer } from './inner-calls.ts';

export type SandboxRun = {
  /** Body of an async function. Compiled as that, never pasted into anything. */
  source: string;
  args: Record<string, unknown>;
  /** Names under `tools`. */
  tools: readonly string[];
  /** What `Date.now()` says throughout, and what `Math.random()` goes by. */
  now: number;
  seed: string;
  /** Arguments that cross as JSON text and are an object already, or what is to be told of them. */
  call(name: string, args: unknown): Promise<InnerAnswer>;
};

export interface Sandbox {
  /** Never throws for anything that the code does. */
  run(run: SandboxRun, signal: AbortSignal): Promise<SandboxEnd>;
  /** Why the source cannot be compiled, with its line; null: it can. */
  check(source: string): Promise<{ message: string; line: number | null } | null>;
}
