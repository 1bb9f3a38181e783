/** The commands of `moniker`, with commander: each file of this folder adds some, `mcp-bridge.ts` is loaded on demand. */
import { Command } from 'commander';
import { version } from '../core/version.ts';
import { addAcceptCommand } from './accept.ts';
import { addAddCommands } from './add.ts';
import { addBackupCommand } from './backup.ts';
import { addCallCommands } from './call.ts';
import { addChatCommand } from './chat/chat.ts';
import { addCompletionCommand } from './completion.ts';
import { addDeployCommand } from './deploy.ts';
import { addDoctorCommand } from './doctor/doctor.ts';
import { exitCodes, reportFailure } from './failure.ts';
import { addConnectionOptions, type ConnectionOptions } from './connection.ts';
import { addImportCommand } from './import/import.ts';
import { addInstallCommand } from './install/install.ts';
import { addKeysCommand } from './keys.ts';
import { addLogsCommand } from './logs.ts';
import { addModelsCommand } from './models/models.ts';
import { printError } from '../local/printing.ts';
import { endWithPipe } from './output.ts';
import { addProjectCommands } from './project.ts';
import { addRefreshCommand } from './refresh.ts';
import { addReplayCommands } from './replay/replay.ts';
import { addRestoreCommand } from './restore.ts';
import { addStartCommands } from './start.ts';

/** The time for open handles to close after a failure. */
const closingMs = 2_000;

export function createProgram(): Command {
  const program = new Command('moniker')
    .description('A tool gateway and agent runtime: your tools, under the names you choose, with any model.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print the help')
    .showHelpAfterError('Run the command with --help for its options and an example.')
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({ writeErr: (text) => printError(text.trimEnd()) })
    .addHelpText('after', '\nExit codes: 0 success, 1 failure, 2 wrong usage.');
  addStartCommands(program);
  addProjectCommands(program);
  addImportCommand(program);
  addAddCommands(program);
  addCallCommands(program);
  addMcpCommand(program);
  addInstallCommand(program);
  addAcceptCommand(program);
  addRefreshCommand(program);
  addChatCommand(program);
  addReplayCommands(program);
  addLogsCommand(program);
  addDoctorCommand(program);
  addModelsCommand(program);
  addKeysCommand(program);
  addBackupCommand(program);
  addRestoreCommand(program);
  addDeployCommand(program);
  addCompletionCommand(program);
  return program;
}

function addMcpCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('mcp')
      .description('serve a toolset as an MCP server on standard input and output, for clients that start a command')
      .argument('<toolset>', 'toolset of the running service')
      .addHelpText(
        'after',
        '\nExamples, which write it into the settings of a client:\n  moniker install claude-desktop work\n  moniker install cursor work --stdio',
      ),
  ).action(async (toolset: string, options: ConnectionOptions) => {
    // Loaded by this command only: the MCP SDK is large.
    const { serveOverStdio } = await import('./mcp-bridge.ts');
    await serveOverStdio(toolset, options);
  });
}

/** Runs a command and sets the exit code of the process. */
export async function runProgram(parameters: readonly string[]): Promise<void> {
  endWithPipe();
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
