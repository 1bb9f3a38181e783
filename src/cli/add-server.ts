/** `moniker add server`: an MCP server by URL or command, or an OpenAPI document by URL. Credentials become secrets. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { components, MonikerClient } from '../../client/src/index.ts';
import { mayBeCredential } from '../core/secrets/credentials.ts';
import { connectService } from './connection.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { print } from '../local/printing.ts';
import { printJson } from './output.ts';
import { startSignIn, waitForSignIn } from './sign-in.ts';
import { addWriteOptions, explainExisting, printWarnings, writeHeaders, type AddOptions } from './write-options.ts';

type ServerOptions = AddOptions & { kind?: string; header?: string[]; env?: string[]; cwd?: string; trusted?: boolean; oauth?: boolean };
type Written = components['schemas']['WrittenServer'];
type Value = string | { secret: string };
type NewSecret = { name: string; value: string; hosts: string[] };
export type NewServer = { document: Record<string, unknown>; secrets: NewSecret[] };

export function addServerCommand(add: Command): void {
  addWriteOptions(
    add
      .command('server')
      .description('add an MCP server by URL or command, or an OpenAPI document by URL')
      .argument('<name>', 'name of the server, the first part of the canonical names of its tools')
      .argument('<target...>', 'a URL, or after "--" a command with its arguments')
      .option('--kind <kind>', 'mcp or openapi (default: openapi for a URL that ends with .json or .yaml)')
      .option('--header <header...>', 'header "Name: value" of each request; credentials are stored as secrets')
      .option(
        '--env <variable...>',
        'variable NAME=value of the command; NAME takes the value from here; credentials are stored as secrets',
      )
      .option('--cwd <folder>', 'working folder of the command (default: this folder)')
      .option(
        '--oauth',
        'sign in at the server (OAuth), and wait until you have; without it, the page is printed if the server requires it',
      )
      .option('--trusted', 'trust its annotations: read-only calls need no approval')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker add server docs https://mcp.example.com/mcp --header "Authorization: Bearer $TOKEN"\n' +
          '  moniker add server mail https://mail.example.com/mcp --oauth\n' +
          '  moniker add server fs -- npx -y @modelcontextprotocol/server-filesystem /home/me/notes\n' +
          '  moniker add server store https://api.example.com/openapi.json',
      ),
  ).action(addServer);
}

async function addServer(server: string, target: string[], options: ServerOptions): Promise<void> {
  const { document, secrets } = toServer(server, target, options, process.env);
  const { client } = connectService(options);
  const answer = await writeServer(client, server, document, secrets, options);
  if (options.oauth === true || answer.health?.signIn === true) return await signIn(client, server, answer, options);
  if (options.json) return printJson(answer);
  printWarnings(answer.warnings);
  if (answer.toolCount === 0) print(`Server ${server} is stored, without tools so far. See: moniker doctor`);
  else print(`Server ${server} with ${answer.toolCount} tools. Use them: moniker add toolset <name> "${server}.*"`);
}

async function writeServer(
  client: MonikerClient,
  server: string,
  document: NewServer['document'],
  secrets: readonly NewSecret[],
  options: ServerOptions,
): Promise<Written> {
  const written = await writeSecrets(client, secrets, options);
  try {
    return await explainExisting(
      `The server ${server}`,
      // Checked by the service: a document made of options has no fixed type.
      client.put('/v1/servers/{server}', { params: { path: { server }, header: writeHeaders(options) }, body: document as never }),
    );
  } catch (error) {
    // Nothing half done.
    for (const secret of written) await client.delete('/v1/secrets/{secret}', { params: { path: { secret } } }).catch(() => undefined);
    throw error;
  }
}

/** The server is stored in any case; without `--oauth`, the user may sign in later. */
async function signIn(
  client: MonikerClient,
  server: string,
  answer: Written,
  { oauth = false, json = false }: ServerOptions,
): Promise<void> {
  if (!json) print(`Server ${server} is stored${answer.toolCount === 0 ? ', without tools so far' : ''}.`);
  const started = await startSignIn(client, server, { waits: oauth, isQuiet: json });
  // Before the wait, since a program has to show the page to the user.
  if (json) printJson({ ...answer, signIn: started });
  if (!oauth) return;
  const { tools } = await waitForSignIn(client, server, started);
  if (!json) print(`Signed in. Server ${server} with ${tools.length} tools. Use them: moniker add toolset <name> "${server}.*"`);
}

/** Returns the names of the secrets that did not exist before. */
async function writeSecrets(client: MonikerClient, secrets: readonly NewSecret[], options: AddOptions): Promise<string[]> {
  for (const { name, ...body } of secrets)
    await explainExisting(
      `The secret ${name}`,
      client.put('/v1/secrets/{secret}', { params: { path: { secret: name }, header: writeHeaders(options) }, body }),
    );
  return options.replace ? [] : secrets.map(({ name }) => name);
}

/** The document of the server and the secrets that it refers to. */
export function toServer(
  server: string,
  target: readonly string[],
  options: Omit<ServerOptions, 'json'>,
  environment: NodeJS.ProcessEnv,
): NewServer {
  const [first = '', ...args] = target;
  const secrets: NewSecret[] = [];
  const trusted = options.trusted && { trusted: true };
  const store = (name: string, value: string, host: string): Value => {
    if (!mayBeCredential(name, value)) return value;
    const secret = `${server}_${name}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
    secrets.push({ name: secret, value, hosts: [host] });
    return { secret };
  };

  if (!/^https?:\/\//i.test(first)) {
    if (options.header) throw wrongOption('--header', 'a URL');
    if (options.oauth) throw wrongOption('--oauth', 'a URL');
    const env = Object.fromEntries(
      (options.env ?? [])
        .map((text) => readVariable(text, environment))
        .map(([name, value]) => [name, store(name, value, `${server}.stdio`)]),
    );
    const document = {
      kind: 'mcp',
      command: first,
      ...(args.length > 0 && { args }),
      ...(options.env && { env }),
      cwd: resolve(options.cwd ?? '.'),
      ...trusted,
    };
    return { document, secrets };
  }
  if (options.env) throw wrongOption('--env', 'a command');
  if (options.cwd !== undefined) throw wrongOption('--cwd', 'a command');
  if (args.length > 0)
    throw new CommandFailure(`"${args.join(' ')}" follows the URL.`, 'Give one URL, or put a command after "--".', exitCodes.usage);
  const url = URL.parse(first);
  if (url === null) throw new CommandFailure(`"${first}" is not a valid URL.`, 'Check its spelling.', exitCodes.usage);
  const kind = options.kind ?? (/\.(?:json|ya?ml)$/i.test(url.pathname) ? 'openapi' : 'mcp');
  const headers = Object.fromEntries((options.header ?? []).map(readHeader).map(([name, value]) => [name, store(name, value, url.host)]));
  return { document: { kind, url: first, ...(options.header && { headers }), ...trusted }, secrets };
}

function readHeader(text: string): [name: string, value: string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new CommandFailure(`"${text}" is not a header.`, 'Write it as "Name: value".', exitCodes.usage);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function readVariable(text: string, environment: NodeJS.ProcessEnv): [name: string, value: string] {
  const equals = text.indexOf('=');
  const name = equals < 0 ? text : text.slice(0, equals);
  const value = equals < 0 ? environment[name] : text.slice(equals + 1);
  if (value === undefined)
    throw new CommandFailure(`The variable ${name} is not set.`, `Set it, or write --env ${name}=<value>.`, exitCodes.usage);
  return [name, value];
}

function wrongOption(option: string, what: string): CommandFailure {
  return new CommandFailure(
    `${option} is only for a server with ${what}.`,
    'Leave it out. `moniker add server --help` has examples.',
    exitCodes.usage,
  );
}
