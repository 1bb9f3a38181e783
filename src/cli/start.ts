/** `moniker start` and `moniker dev`: run the service on this machine. */
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { dataFolderOf, environmentHelp } from '../local/launch/environment.ts';
import { type LoadedProject, loadProject } from '../local/launch/project-file.ts';
import { hostAdvice, isHost, isPort, portAdvice } from '../local/launch/setting-checks.ts';
import { addTrustOption, dataFolderQuestion, projectQuestion, requireAccepted, type TrustOptions } from './folder-trust.ts';

/** `project`: false with `--no-project`. */
type StartOptions = TrustOptions & {
  host?: string;
  port?: string;
  data?: string;
  production?: boolean;
  project: boolean;
  purpose?: 'command' | 'plan';
};

export function addStartCommands(program: Command): void {
  const commands = [
    { name: 'start', reload: false, description: 'run the service on this machine until Ctrl-C' },
    { name: 'dev', reload: true, description: 'the same, and rebuild whenever a source file changes' },
  ];
  for (const { name, reload, description } of commands) {
    const command = program
      .command(name)
      .description(description)
      .option('--port <port>', 'port to listen on; 0 for any free one (default: PORT, else 8787)', valid(isPort, portAdvice))
      .option(
        '--host <address>',
        'address to listen on, such as 0.0.0.0 for all networks (default: MONIKER_HOST, else 127.0.0.1)',
        valid(isHost, hostAdvice),
      )
      .option('--data <folder>', 'folder for keys and storage (default: MONIKER_DATA_DIR, else .moniker)')
      .option('--no-project', 'do not apply the project file of the current folder')
      // Of `temporary-service.ts`.
      .addOption(
        new Option('--purpose <purpose>', 'for one command, of which the service is a part').choices(['command', 'plan']).hideHelp(),
      )
      .addHelpText('after', `\nExample:\n  moniker ${name} --port 8080\n\n${environmentHelp}`)
      .action(async (options: StartOptions) => {
        const environment = withOptions(process.env, options);
        const { purpose = null } = options;
        const project = options.project && purpose === null ? loadProject(process.cwd(), environment) : null;
        await requireTrusted(project, environment, options);
        // Loaded by this command only: other commands do not need the build tools.
        const { start } = await import('../local/launch/start.ts');
        await start({ reload, isProduction: options.production === true, environment, project, purpose });
      });
    addTrustOption(command);
    if (!reload) command.option('--production', 'for servers: without the demo, and without printing keys or examples');
  }
}

/** A file or folder that was named is the user's decision. For one that came with the current folder, the user is asked once. */
async function requireTrusted(project: LoadedProject | null, environment: NodeJS.ProcessEnv, options: TrustOptions): Promise<void> {
  const isFound = project !== null && 'content' in project && !project.isNamed;
  const questions = [
    dataFolderQuestion(dataFolderOf(environment)),
    isFound ? projectQuestion(project.file, project.content, { isFirst: true }) : null,
  ];
  await requireAccepted(
    questions.filter((question) => question !== null),
    {
      trust: options.trust,
      alternatives: '--no-project starts without the project file; --data and MONIKER_PROJECT name a folder and a file.',
    },
  );
}

function valid(isValid: (text: string) => boolean, advice: string): (text: string) => string {
  return (text) => {
    if (!isValid(text)) throw new InvalidArgumentError(advice);
    return text;
  };
}

function withOptions(environment: NodeJS.ProcessEnv, { host, port, data }: StartOptions): NodeJS.ProcessEnv {
  return {
    ...environment,
    ...(host !== undefined && { MONIKER_HOST: host }),
    ...(port !== undefined && { PORT: port }),
    ...(data !== undefined && { MONIKER_DATA_DIR: resolve(data) }),
  };
}
