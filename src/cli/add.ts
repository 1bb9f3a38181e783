/** `moniker add server|toolset|agent|key`: write one document. */
import type { Command } from 'commander';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { exitCodes, CommandFailure } from './failure.ts';
import { inLine, printJson, type JsonOption } from './output.ts';
import { print, printData, printError } from '../local/printing.ts';
import { addWriteOptions, explainExisting, printWarnings, writeHeaders, type AddOptions } from './write-options.ts';
import { addServerCommand } from './add-server.ts';

export function addAddCommands(program: Command): void {
  const add = program.command('add').description('add a server, toolset, agent or key');
  addServerCommand(add);

  addWriteOptions(
    add
      .command('toolset')
      .description('add a toolset: tools under your names')
      .argument('<name>', 'name of the toolset')
      .argument('<tools...>', 'tools by canonical name, with a name and aliases: builtin.bash=shell,sh. "fs.*": all tools of the server fs')
      .option('--description <text>', 'what the toolset is for')
      .addHelpText('after', '\nExample:\n  moniker add toolset work "fs.*" builtin.bash=shell,sh'),
  ).action(addToolset);

  addWriteOptions(
    add
      .command('agent')
      .description('add an agent: a model with instructions and a toolset')
      .argument('<name>', 'name of the agent')
      .requiredOption('--model <model>', 'provider/model, for example openai/gpt-5')
      .option('--toolset <name>', 'toolset that it uses')
      .option('--instructions <text>', 'the system prompt')
      .addHelpText('after', '\nExample:\n  moniker add agent helper --model rehearsal/default --toolset work'),
  ).action(addAgent);

  addConnectionOptions(
    add
      .command('key')
      .description('create an API key and print it; it is not shown again')
      .argument('<name>', 'what the key is for')
      .option('--scope <scope...>', 'chat, tools, toolsets, approve or admin', ['chat', 'tools'])
      .option('--agent <name...>', 'restrict the key to these agents')
      .option('--toolset <name...>', 'restrict the key to these toolsets')
      .option('--model <pattern...>', 'restrict the key to these models, such as "openai/gpt-5*"')
      .option('--expires <time>', 'days such as 30d, or a time such as 2030-01-01T00:00:00Z')
      .option('--json', 'print the whole response')
      .addHelpText('after', '\nExample:\n  KEY=$(moniker add key ci --scope tools --toolset work --expires 90d)'),
  ).action(addKey);
}

async function addToolset(toolset: string, tools: string[], options: AddOptions & { description?: string }): Promise<void> {
  const { client } = connectService(options);
  const body = { tools: tools.map(parseEntry), ...(options.description !== undefined && { description: options.description }) };
  const answer = await explainExisting(
    `The toolset ${toolset}`,
    client.put('/v1/toolsets/{toolset}', { params: { path: { toolset }, header: writeHeaders(options) }, body }),
  );
  if (options.json) return printJson(answer);
  printWarnings(answer.warnings);
  print(inLine(`Toolset ${toolset}, version ${answer.version}. Try it: moniker call <tool> --toolset ${toolset}`));
}

/** `builtin.bash=shell,sh`: the tool, its name, and aliases. */
export function parseEntry(text: string): { tool: string; name?: string; aliases?: string[] } {
  const [tool = '', names, ...rest] = text.split('=');
  const [name, ...aliases] = names === undefined ? [] : names.split(',').map((one) => one.trim());
  if (tool === '' || rest.length > 0 || name === '' || aliases.includes(''))
    throw new CommandFailure(`"${text}" is not a tool with names.`, 'Write it as tool=name,alias: builtin.bash=shell,sh', exitCodes.usage);
  return { tool, ...(name !== undefined && { name }), ...(aliases.length > 0 && { aliases }) };
}

async function addAgent(agent: string, options: AddOptions & { model: string; toolset?: string; instructions?: string }): Promise<void> {
  const { client } = connectService(options);
  const { model, toolset, instructions } = options;
  const body = { model, ...(toolset !== undefined && { toolset }), ...(instructions !== undefined && { instructions }) };
  const answer = await explainExisting(
    `The agent ${agent}`,
    client.put('/v1/agents/{agent}', { params: { path: { agent }, header: writeHeaders(options) }, body }),
  );
  if (options.json) return printJson(answer);
  printWarnings(answer.warnings ?? []);
  print(`Agent ${agent}. Try it: moniker chat --agent ${agent}`);
}

type KeyOptions = ConnectionOptions &
  JsonOption & { scope: string[]; agent?: string[]; toolset?: string[]; model?: string[]; expires?: string };

async function addKey(name: string, { scope, agent, toolset, model, expires, ...options }: KeyOptions): Promise<void> {
  const { client } = connectService(options);
  const expiresAt = expires === undefined ? undefined : parseExpiry(expires, Date.now());
  const answer = await client.post('/v1/keys', {
    // The service checks the scopes and names them.
    body: { name, scopes: scope as ('chat' | 'admin')[], agents: agent, toolsets: toolset, models: model, expiresAt },
  });
  if (options.json) return printJson(answer);
  printError(inLine(`Key ${answer.id} with the scopes ${answer.scopes.join(', ')}. It is shown only once:`));
  printData(answer.key);
}

/** `30d` or an ISO time, as an ISO time. */
export function parseExpiry(text: string, now: number): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const time = days === undefined ? Date.parse(text) : now + Number(days) * 24 * 60 * 60 * 1_000;
  if (Number.isNaN(time) || time <= now)
    throw new CommandFailure(
      `"${text}" is not a time in the future.`,
      'Give days such as 30d, or a time such as 2030-01-01T00:00:00Z.',
      exitCodes.usage,
    );
  return new Date(time).toISOString();
}
