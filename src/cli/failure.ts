/**
 * How commands fail: what is wrong and what to do, one line each on stderr, never a stack. The exit codes are part of the interface
 * (docs/cli.md).
 */
import { CommanderError } from 'commander';
import { StartFailure } from '../local/start-failure.ts';

export const exitCodes = { success: 0, failure: 1, usage: 2 } as const;

export class CommandFailure extends Error {
  override name = 'CommandFailure';
  readonly advice: string;
  readonly exitCode: number;

  /** `advice`: what to do, one sentence. */
  constructor(what: string, advice: string, exitCode: number = exitCodes.failure) {
    super(what);
    this.advice = advice;
    this.exitCode = exitCode;
  }
}

/** Prints the error and returns the exit code. */
export function reportFailure(error: unknown): number {
  // commander has printed its message.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.success : exitCodes.usage;
  if (error instanceof CommandFailure) {
    console.error(`error: ${error.message}\n${error.advice}`);
    return error.exitCode;
  }
  if (error instanceof StartFailure) {
    console.error(`error: ${error.message}`);
    return exitCodes.failure;
  }
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  return exitCodes.failure;
}
