/** `moniker accept`: puts held definitions of a server's tools into force. */
import type { Command } from 'commander';
import { inLine, printJson, printStyled, styled, type JsonOption } from './output.ts';
import { print } from '../local/printing.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { exitCodes } from './failure.ts';

type Options = ConnectionOptions & JsonOption & { reject?: boolean };

export function addAcceptCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('accept')
      .description('accept the held definitions of a server, except those with findings')
      .argument('<server>', 'name of the server')
      .argument('[tools...]', 'own names of the tools (default: all that are held)')
      .option('--reject', 'reject them instead')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExamples:\n  moniker accept github\n  moniker accept github create_issue --reject'),
  ).action(accept);
}

async function accept(server: string, tools: string[], options: Options): Promise<void> {
  const { client } = connectService(options);
  const path = options.reject ? '/v1/servers/{server}/reject' : '/v1/servers/{server}/accept';
  const answer = await client.post(path, { params: { path: { server } }, body: { tools: tools.length === 0 ? '*' : tools } });
  if (answer.left.length > 0) process.exitCode = exitCodes.failure;
  if (options.json) return printJson(answer);
  const word = options.reject ? 'rejected' : 'accepted';
  print(answer.decided.length === 0 ? `Nothing was ${word}.` : `${word}: ${answer.decided.map(inLine).join(', ')}`);
  for (const { name, reason } of answer.left) printStyled(styled('yellow', `${inLine(name)}: ${reason}`));
  for (const { path: place, message } of answer.warnings) printStyled(styled('yellow', `${place}: ${message}`));
}
