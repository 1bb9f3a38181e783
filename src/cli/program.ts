/** The commands of `moniker`, with commander: each command is a file of this folder. */
import { Command } from 'commander';
import { exitCodes, reportFailure } from './failure.ts';
import { addStartCommands } from './start.ts';

/** The time for open handles to close after a failure. */
const closingMs = 2_000;

export function createProgram(): Command {
  const program = new Command('moniker')
    .description('A tool gateway and agent runtime: your tools, under the names you choose, with any model.')
    .showHelpAfterError('Run the command with --help for its options and an example.')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 wrong usage.');
  addStartCommands(program);
  return program;
}

/** Runs a command and sets the exit code of the process. */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  const program = createProgram();
  try {
    if (parameters.length === 0) {
      program.outputHelp();
      process.exitCode = exitCodes.usage;
      return;
    }
    await program.parseAsync(parameters, { from: 'user' });
  } catch (error) {
    process.exitCode = reportFailure(error);
    // A handle that stays open must not keep a failed process alive.
    setTimeout(() => process.exit(), closingMs).unref();
  }
}
