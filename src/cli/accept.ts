/** `moniker accept`: puts held definitions of a server's tools into force, or tools that it renamed in the place of the missing ones. */
import { Option, type Command } from 'commander';
import { inLine, printJson, printStyled, styled, type JsonOption } from './output.ts';

import type { components, MonikerClient } from '../../client/src/index.ts';
import { print } from '../local/printing.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { exitCodes, messageOf } from './failure.ts';

type Options = ConnectionOptions & JsonOption & { reject?: boolean; rebind?: boolean; impact?: boolean };
type Impact = components['schemas']['DefinitionImpact'];
type Rename = { name: string; renamedTo: string };

export function addAcceptCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('accept')
      .description('accept the held definitions of a server, except those with findings')
      .argument('<server>', 'name of the server')
      .argument('[tools...]', 'own names of the tools (default: all that are held)')
      .option('--reject', 'reject them instead')
      .addOption(
        new Option('--rebind', 'instead put renamed tools in the place of the missing ones, under the same names').conflicts('reject'),
      )
      .addOption(
        new Option('--impact', 'only show what accepting them would have done to the calls of 30 days').conflicts(['reject', 'rebind']),
      )
      .option('--json', 'print the whole response')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker accept github\n  moniker accept github --impact\n  moniker accept github create_issue --reject\n  moniker accept github --rebind',
      ),
  ).action(accept);
}

async function accept(server: string, tools: string[], options: Options): Promise<void> {
  const { client } = connectService(options);
  if (options.rebind) return await rebind(client, server, { tools, json: options.json });
  if (options.impact) return await showImpacts(client, server, { tools, json: options.json });
  // Afterwards there is nothing to compare with.
  if (!options.reject && !options.json) await printBroken(client, server, tools);
  const path = options.reject ? '/v1/servers/{server}/reject' : '/v1/servers/{server}/accept';
  const answer = await client.post(path, { params: { path: { server } }, body: { tools: tools.length === 0 ? '*' : tools } });
  if (answer.left.length > 0) process.exitCode = exitCodes.failure;
  if (options.json) return printJson(answer);
  const word = options.reject ? 'rejected' : 'accepted';
  print(answer.decided.length === 0 ? `Nothing was ${word}.` : `${word}: ${answer.decided.map(inLine).join(', ')}`);
  for (const { name, reason } of answer.left) printNotice(`${name}: ${reason}`);
  for (const { path: place, message } of answer.warnings) printNotice(`${place}: ${message}`);
  for (const { name, renamedTo } of await readRenames(client, server))
    printNotice(`${name} is missing, and ${renamedTo} has its definition: moniker accept ${server} ${name} --rebind`);
}

/** Each reads the audit and the logs of sessions. */
const maxCompared = 20;

/** Of the held tools among these; of none named, all. `left`: those that are too many. */
async function readImpacts(client: MonikerClient, server: string, tools: readonly string[]): Promise<{ impacts: Impact[]; left: number }> {
  const view = await client.get('/v1/servers/{server}', { params: { path: { server } } });
  const held = view.tools.filter(({ name, state }) => state === 'held' && (tools.length === 0 || tools.includes(name)));
  const impacts: Impact[] = [];
  for (const { name: tool } of held.slice(0, maxCompared))
    impacts.push(await client.get('/v1/servers/{server}/tools/{tool}/impact', { params: { path: { server, tool } } }));
  return { impacts, left: held.length - impacts.length };
}

async function showImpacts(client: MonikerClient, server: string, { tools, json }: { tools: string[] } & JsonOption): Promise<void> {
  const { impacts, left } = await readImpacts(client, server, tools);
  if (json) return printJson({ impacts, left });
  if (impacts.length === 0) print('Nothing is held.');
  for (const impact of impacts) printImpact(impact);
  if (left > 0) printNotice(`${left} more are held and were not compared: name them.`);
}

async function printBroken(client: MonikerClient, server: string, tools: readonly string[]): Promise<void> {
  try {
    const { impacts, left } = await readImpacts(client, server, tools);
    for (const impact of impacts) if (impact.refusedCalls > 0) printImpact(impact);
    if (left > 0) printNotice(`${left} more tools were not compared with past calls.`);
  } catch (error) {
    printNotice(`Not compared with past calls: ${messageOf(error)}`);
  }
}

function printImpact({ tool, judged, refusedCalls, refused, hashed, left, turns }: Impact): void {
  print(inLine(`${tool}: would have refused ${refusedCalls} of ${judged} recorded calls`));
  for (const { toolset, calls, issues, mends } of refused) {
    const why = issues.map(({ path, message }) => `${path} ${message}`).join('; ');
    const keep = mends.map(({ alias, argument }) => `${alias} → ${argument}`).join(', ');
    printNotice(`  ${toolset ?? 'no toolset'}: ${calls}, ${why}${keep === '' ? '' : `. Kept by arguments.alias of its entry: ${keep}`}`);
  }
  const unread = hashed + left;
  if (unread > 0 || turns.left > 0 || turns.more)
    printNotice(`  not compared: ${unread} calls, and the calls of ${turns.left} turns${turns.more ? ' and of older ones' : ''}`);
}

function printNotice(text: string): void {
  printStyled(styled('yellow', inLine(text)));
}

/** The missing tools whose definition another tool of the server has now. */
async function readRenames(client: MonikerClient, server: string): Promise<Rename[]> {
  const view = await client.get('/v1/servers/{server}', { params: { path: { server } } });
  return view.tools.flatMap(({ name, state, renamedTo }) => (state === 'missing' && renamedTo !== undefined ? [{ name, renamedTo }] : []));
}

async function rebind(client: MonikerClient, server: string, { tools, json }: { tools: string[] } & JsonOption): Promise<void> {
  const renames = (await readRenames(client, server)).filter(({ name }) => tools.length === 0 || tools.includes(name));
  const done: (Rename & { toolsets: string[] })[] = [];
  for (const { name: tool, renamedTo } of renames) {
    const params = { path: { server, tool } };
    const { toolsets } = await client.post('/v1/servers/{server}/tools/{tool}/rebind', { params, body: { to: renamedTo } });
    done.push({ name: tool, renamedTo, toolsets });
    if (!json) print(inLine(`${renamedTo} takes the place of ${tool} in ${toolsets.join(', ') || 'no toolset'}`));
  }
  const left = tools.filter((name) => !renames.some((rename) => rename.name === name));
  if (left.length > 0) process.exitCode = exitCodes.failure;
  if (json) return printJson({ rebound: done, left });
  if (done.length === 0 && left.length === 0) print('The server has renamed no tool.');
  for (const name of left) printNotice(`${name}: no tool with its definition took its place`);
}
