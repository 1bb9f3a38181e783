/** `moniker refresh`: reads what servers list now, and shows the health of each in one line, as `moniker import` does for those of a file. */
import type { Command } from 'commander';
import { type components, type MonikerClient, paginate } from '../../client/src/index.ts';
import { print } from '../local/printing.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { describeFailure, exitCodes } from './failure.ts';
import { inLine, printJson, printStyled, styled, type JsonOption } from './output.ts';

export type ListedServer = components['schemas']['ServerSummary'];

/** Servers list their tools before the response. */
const refreshTimeoutMs = 5 * 60_000;
/** Servers of one workspace that a command shows. */
export const maxShownServers = 1_000;

export function addRefreshCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('refresh')
      .description('read the tool lists of servers again, and show how each server is')
      .argument('[servers...]', 'names of servers (default: all that are not ok)')
      .option('--json', 'print the servers with their health as JSON')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker refresh\n  moniker refresh github slack\n\nThe exit code is 1 if one of them is not ok.',
      ),
  ).action(refresh);
}

async function refresh(names: string[], options: ConnectionOptions & JsonOption): Promise<void> {
  const { client } = connectService(options, refreshTimeoutMs);
  const before = await readServers(client);
  const chosen = names.length > 0 ? names : before.filter((server) => !isWell(server)).map(({ name }) => name);
  const refused = new Map<string, string>();
  for (const server of chosen)
    await client
      .post('/v1/servers/{server}/refresh', { params: { path: { server } } })
      .catch((error: unknown) => refused.set(server, describeFailure(error).message));
  const after = new Map((await readServers(client)).map((server) => [server.name, server]));
  const shown = chosen.map((name) => ({ name, server: after.get(name) ?? null, failure: refused.get(name) ?? null }));
  if (shown.some(({ server, failure }) => failure !== null || server === null || !isWell(server))) process.exitCode = exitCodes.failure;
  if (options.json) return printJson({ servers: shown });
  if (shown.length === 0) return print(`All servers are ok: ${before.length}.`);
  for (const { name, server, failure } of shown) {
    const isWrong = failure !== null && (server === null || isWell(server));
    const text = isWrong || server === null ? (failure ?? 'does not exist.') : describeServer(server);
    printStyled(styled(!isWrong && server !== null && isWell(server) ? 'green' : 'yellow', inLine(`${name}: ${text}`)));
  }
}

/** The servers of the workspace with their health, in the order of names. */
export async function readServers(client: MonikerClient): Promise<ListedServer[]> {
  const items: ListedServer[] = [];
  for await (const server of paginate(client, '/v1/servers', { query: { limit: 100 } })) {
    items.push(server);
    if (items.length >= maxShownServers) break;
  }
  return items;
}

/** A static server has no health: it receives only calls. */
export function isWell({ health }: Pick<ListedServer, 'health'>): boolean {
  return health === undefined || health.status === 'ok';
}

/** `14 tools`, or `failing: It exited with code 3.` */
export function describeServer({ health, toolCount, held }: Pick<ListedServer, 'health' | 'toolCount' | 'held'>): string {
  const tools = `${toolCount} tool${toolCount === 1 ? '' : 's'}${held > 0 ? `, ${held} held` : ''}`;
  if (health === undefined || health.status === 'ok') return tools;
  const status = toolCount > 0 ? `${health.status}, ${tools}` : health.status;
  return health.reason === undefined ? status : `${status}: ${health.reason}`;
}
