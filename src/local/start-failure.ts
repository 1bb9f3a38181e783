/** A reason not to start, meant for the person at the terminal: printed as one message, without a stack. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

/** Runs a script's `main`; what it throws becomes a message and exit code 1. */
export async function runLocalScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof StartFailure ? `\n${error.message}\n` : error);
    process.exitCode = 1;
  }
}
