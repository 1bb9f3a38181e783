import { inspect } from 'node:util';
import { printError } from '../printing.ts';

/** A reason not to start, shown to the user in the terminal: printed as one message, without a stack. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

/** The time for open handles to close after an error. */
const closingMs = 2_000;

/** Runs a script's `main`; errors are printed as a message, and the process ends with exit code 1. */
export async function runLocalScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    printError(error instanceof StartFailure ? `\n${error.message}\n` : inspect(error));
    process.exitCode = 1;
    // A handle that stays open must not keep a failed process alive.
    setTimeout(() => process.exit(), closingMs).unref();
  }
}
