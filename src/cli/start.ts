/** `moniker start` and `moniker dev`: run the service on this machine. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { environmentHelp } from '../local/environment.ts';

type StartOptions = { port?: string; data?: string };

export function addStartCommands(program: Command): void {
  const commands = [
    { name: 'start', reload: false, description: 'run the service on this machine until Ctrl-C' },
    { name: 'dev', reload: true, description: 'the same, and rebuild whenever a source file changes' },
  ];
  for (const { name, reload, description } of commands)
    program
      .command(name)
      .description(description)
      .option('--port <port>', 'port to listen on; 0 for any free one (default: PORT, else 8787)')
      .option('--data <folder>', 'folder for keys and storage (default: MONIKER_DATA_DIR, else .moniker)')
      .addHelpText('after', `\nExample:\n  moniker ${name} --port 8080\n\n${environmentHelp}`)
      .action(async (options: StartOptions) => {
        // Loaded by this command only: other commands do not need the build tools.
        const { start } = await import('../local/start.ts');
        await start({ reload, environment: withOptions(process.env, options) });
      });
}

function withOptions(environment: NodeJS.ProcessEnv, { port, data }: StartOptions): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(port !== undefined && { PORT: port }),
    ...(data !== undefined && { MONIKER_DATA_DIR: resolve(data) }),
  };
}
