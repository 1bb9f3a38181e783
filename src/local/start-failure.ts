/** A reason not to start, shown to the user in the terminal: printed as one message, without a stack. */
export class StartFailure extends Error {
  override name = 'StartFailure';
}

/** Runs a script's `main`; errors are printed as a message, with exit code 1. */
export async function runLocalScript(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof StartFailure ? `\n${error.message}\n` : error);
    process.exitCode = 1;
  }
}
