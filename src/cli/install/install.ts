/**
 * `moniker install CLIENT TOOLSET`: writes the toolset into the settings of an MCP client, with a key for it alone. Shows the change and asks
 * first, copies the file, and leaves everything else in it byte for byte as it was. `--remove` takes the entry out and revokes its key.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { type MonikerClient, paginate } from '../../../client/src/index.ts';
import { version } from '../../core/version.ts';
import { isCheckout, projectRoot } from '../../local/launch/environment.ts';
import { print, printError } from '../../local/printing.ts';
import { isYes } from '../chat/chat-questions.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from '../connection.ts';
import { CommandFailure, messageOf } from '../failure.ts';
import { inLine, printStyled, styled } from '../output.ts';
import { askLine, canAsk } from '../terminal.ts';
import { type Entry, type McpClient, type McpClientName, mcpClients } from './clients.ts';

type Options = ConnectionOptions & {
  name?: string;
  project?: true;
  stdio?: true;
  approve?: true;
  remove?: true;
  yes?: true;
  file?: string;
};

/** Stands for the key in what is shown. */
const shownKey = '<a new key for this client>';
/** Keys of one workspace that are looked through for those of this command. */
const maxKeys = 10_000;

export function addInstallCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('install')
      .description('write a toolset into the settings of an MCP client, with a key for it alone')
      .addArgument(new Argument('<client>', 'the client').choices(Object.keys(mcpClients)))
      .argument('<toolset>', 'name of the toolset')
      .option('--name <name>', 'name of the server in the client (default: that of the toolset)')
      .option('--project', 'write the file of this folder instead of that of the user')
      .option('--file <path>', 'write this file instead')
      .option('--stdio', 'let the client start `moniker mcp` instead of connecting by URL (always for Claude Desktop)')
      .option('--approve', 'the key may also decide approvals, which the client then asks for')
      .option('--remove', 'take the entry out again, and revoke its key')
      .option('--yes', 'write without a question')
      .addHelpText(
        'after',
        '\nExamples:\n  moniker install claude work\n  moniker install vscode work --project\n  moniker install cursor work --remove\n\n' +
          'The file is copied before it is changed. docs/mcp.md lists the files.',
      ),
  ).action(install);
}

async function install(client: McpClientName, toolset: string, options: Options): Promise<void> {
  const form: McpClient = mcpClients[client];
  const file = fileOf(form, options);
  const name = options.name ?? toolset;
  const before = readText(file);
  if (options.remove) return await remove(form, { client, toolset, file, name, before }, options);
  const { client: service, url } = connectService(options);
  // Fails for a toolset that does not exist.
  await service.get('/v1/toolsets/{toolset}', { params: { path: { toolset } } });
  const isStdio = options.stdio === true || form.isStdioOnly === true;
  const entryOf = (key: string): Entry =>
    isStdio
      ? { ...launchCommand(toolset), env: { MONIKER_URL: url, MONIKER_KEY: key } }
      : { url: `${url}/mcp/${encodeURIComponent(toolset)}`, key };
  await confirm(file, before, form.edit(before, name, entryOf(shownKey)), options);
  const keyName = keyNameOf(client, toolset);
  const earlier = await keysNamed(service, keyName);
  const scopes = ['tools', ...(options.approve ? ['approve'] : [])] as ('tools' | 'approve')[];
  const { id, key } = await service.post('/v1/keys', { body: { name: keyName, scopes, toolsets: [toolset] } });
  try {
    const copy = writeText(file, before, form.edit(before, name, entryOf(key)));
    print(
      `${form.title} has the toolset ${inLine(toolset)} as ${inLine(name)}, in ${file}.${copy === null ? '' : ` The file of before is ${copy}.`}`,
    );
  } catch (error) {
    await revoke(service, [id]);
    throw error;
  }
  // Those of an earlier entry, which the new one has replaced.
  await revoke(service, earlier);
  if (options.project) printError(`warning: ${file} has a key. Keep it out of version control.`);
  if (process.platform !== 'win32' && (statSync(file).mode & 0o044) !== 0)
    printError(`warning: other users of this machine can read ${file}, which has a key. Run: chmod 600 ${file}`);
  print(form.next);
}

type Installed = { client: McpClientName; toolset: string; file: string; name: string; before: string };

async function remove(form: McpClient, { client, toolset, file, name, before }: Installed, options: Options): Promise<void> {
  const after = form.edit(before, name, null);
  if (after === before)
    throw new CommandFailure(`${file} has no entry "${name}".`, 'Name the entry with --name, or the file with --project or --file.');
  await confirm(file, before, after, options);
  const copy = writeText(file, before, after);
  print(`${inLine(name)} is removed from ${file}.${copy === null ? '' : ` The file of before is ${copy}.`}`);
  try {
    const { client: service } = connectService(options);
    const revoked = await revoke(service, await keysNamed(service, keyNameOf(client, toolset)));
    if (revoked > 0) print(`Its key is revoked.`);
  } catch (error) {
    printError(`warning: its key is not revoked: ${inLine(messageOf(error))} See: moniker keys list`);
    process.exitCode = 1;
  }
}

function fileOf({ projectFile, userFile, title }: McpClient, { project, file }: Options): string {
  if (file !== undefined) return resolve(file);
  if (!project) return userFile(process.env);
  if (projectFile === null) throw new CommandFailure(`${title} has no settings of a folder.`, 'Leave out --project.');
  return resolve(projectFile);
}

function readText(file: string): string {
  if (!existsSync(file)) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(file));
  } catch (error) {
    throw new CommandFailure(
      `${file} cannot be read as text: ${messageOf(error)}.`,
      'Check its permissions and its encoding, which must be UTF-8.',
    );
  }
}

/** Writes beside the file and renames, so that no reader finds half of it. Returns the name of the copy of the file before; null: there was none. */
function writeText(file: string, before: string, text: string): string | null {
  try {
    mkdirSync(dirname(file), { recursive: true });
    // Settings are often links into a folder of dotfiles.
    const target = existsSync(file) ? realpathSync(file) : file;
    const isNew = !existsSync(target);
    if (!isNew && readText(target) !== before)
      throw new CommandFailure(`${file} was changed by another program meanwhile, so it was not written.`, 'Run the command again.');
    const copy = isNew ? null : `${target}.${new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14)}.bak`;
    if (copy !== null) copyFileSync(target, copy);
    const mode = isNew ? 0o600 : statSync(target).mode & 0o777;
    const part = `${target}.moniker-part`;
    try {
      writeFileSync(part, text, { mode, flag: 'wx' });
      renameSync(part, target);
    } finally {
      rmSync(part, { force: true });
    }
    return copy;
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(
      `${file} cannot be written: ${messageOf(error)}.`,
      'Check the permissions of its folder. Nothing was changed.',
    );
  }
}

/** Shows the change, and asks for it. */
async function confirm(file: string, before: string, after: string, { yes }: Options): Promise<void> {
  printStyled(styled('dim', file), process.stderr);
  for (const line of changedLines(before, after).map(withoutKeys))
    printStyled(styled(line.startsWith('+') ? 'green' : line.startsWith('-') ? 'red' : 'dim', line), process.stderr);
  if (yes) return;
  if (!canAsk())
    throw new CommandFailure(
      'Nothing was written: there is no terminal to ask at.',
      'Read the change above, and run the command again with --yes.',
    );
  if (!isYes((await askLine('Write this? [y/N] ')) ?? '')) throw new CommandFailure('Nothing was written.', '');
}

/** Keys of an earlier entry are not shown. */
function withoutKeys(line: string): string {
  return line.replaceAll(/\bmk_[\w-]{20,}/g, 'mk_…');
}

/** The lines that differ, with one line before and after. */
export function changedLines(before: string, after: string): string[] {
  const [old, fresh] = [before, after].map((text) => (text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/))) as [
    string[],
    string[],
  ];
  const common = (one: readonly string[], other: readonly string[]): number => {
    const at = one.findIndex((line, index) => line !== other[index]);
    return at < 0 ? Math.min(one.length, other.length) : at;
  };
  const start = common(old, fresh);
  const end = common(old.slice(start).reverse(), fresh.slice(start).reverse());
  const context = (line: string | undefined): string[] => (line === undefined ? [] : [`  ${line}`]);
  return [
    ...context(start > 0 ? old[start - 1] : undefined),
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...fresh.slice(start, fresh.length - end).map((line) => `+ ${line}`),
    ...context(end > 0 ? old[old.length - end] : undefined),
  ];
}

/** Works from any folder, and without a `moniker` in PATH: clients start programs with an environment of their own. */
export function launchCommand(toolset: string, root = projectRoot): { command: string; args: string[] } {
  // The cache of npx may be emptied at any time.
  if (/[\\/]_npx[\\/]/.test(root)) return { command: 'npx', args: ['-y', `moniker-gateway@${version}`, 'mcp', toolset] };
  const main = isCheckout ? join(root, 'src', 'cli', 'main.ts') : join(root, 'dist', 'cli', 'main.mjs');
  return { command: process.execPath, args: [main, 'mcp', toolset] };
}

function keyNameOf(client: McpClientName, toolset: string): string {
  return `${client} on ${hostname()}: ${toolset}`.slice(0, 100);
}

async function keysNamed(service: MonikerClient, name: string): Promise<string[]> {
  const found: string[] = [];
  let seen = 0;
  for await (const key of paginate(service, '/v1/keys', { query: { limit: 100 } })) {
    if (key.name === name && key.revokedAt === null) found.push(key.id);
    seen += 1;
    if (seen >= maxKeys) break;
  }
  return found;
}

async function revoke(service: MonikerClient, ids: readonly string[]): Promise<number> {
  for (const key of ids) await service.delete('/v1/keys/{key}', { params: { path: { key }, query: { cancel: 'false' } } });
  return ids.length;
}
