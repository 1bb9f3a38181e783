/** `moniker keys`: lists, rotates and revokes API keys, and rotates the master key of this machine. */
import type { Command } from 'commander';
import { type components, paginate } from '../../client/src/index.ts';
import { dataFolderOf } from '../local/launch/environment.ts';
import { keyFault } from '../local/launch/key-check.ts';
import { rotateMasterKey } from '../local/launch/keys.ts';
import { isInUse } from '../local/launch/data-lock.ts';
import { StartFailure } from '../local/launch/start-failure.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { print, printData, printError } from '../local/printing.ts';
import { type JsonOption, inLine, printJson, renderTable } from './output.ts';

type Key = components['schemas']['Key'];
type Options = ConnectionOptions & JsonOption;

/** Of a list that a person reads. */
const maxListed = 1_000;

export function addKeysCommand(program: Command): void {
  const keys = program.command('keys').description('list, rotate and revoke API keys; rotate the master key');
  const add = (name: string, description: string): Command =>
    addConnectionOptions(keys.command(name).description(description).option('--json', 'print the result as JSON'));
  add('list', 'list the keys, newest first').addHelpText('after', '\nExample:\n  moniker keys list').action(list);
  add('rotate', 'replace the secret of a key, and print the new key; the old one works during the overlap')
    .argument('<id>', 'the id of the key, from `moniker keys list`')
    .option('--overlap <hours>', 'how long the old secret works (default: 24)')
    .addHelpText('after', '\nExample:\n  moniker keys rotate 4fGh2kLm9QxZ --overlap 1')
    .action(rotate);
  add('revoke', 'revoke a key')
    .argument('<id>', 'the id of the key')
    .option('--cancel', 'also end the turns that it started: for a leaked key')
    .addHelpText('after', '\nExample:\n  moniker keys revoke 4fGh2kLm9QxZ --cancel')
    .action(revoke);
  keys
    .command('rotate-master')
    .description('make a new master key for the data folder of this machine, used from the next start on')
    .option('--data <folder>', 'data folder of the service (default: MONIKER_DATA_DIR, else .moniker)')
    .addHelpText('after', '\nExample:\n  moniker keys rotate-master')
    .action(rotateMaster);
}

async function list(options: Options): Promise<void> {
  const { client } = connectService(options);
  const items: Key[] = [];
  for await (const key of paginate(client, '/v1/keys', { query: { limit: 100 } })) {
    items.push(key);
    if (items.length >= maxListed) break;
  }
  if (options.json) return printJson(items);
  const day = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';
  const stateOf = ({ revokedAt, expiresAt }: Key): string =>
    revokedAt !== null ? 'revoked' : expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'active';
  const rows = items.map((key) => [
    ...[key.id, key.name, stateOf(key), key.scopes.join(',')],
    ...[day(key.lastUsedAt), day(key.expiresAt), day(key.previousExpiresAt)],
  ]);
  if (rows.length === 0) return print('No keys yet. Create one with `moniker add key <name>`.');
  print(renderTable([['ID', 'NAME', 'STATE', 'SCOPES', 'LAST USED', 'EXPIRES', 'OLD SECRET UNTIL'], ...rows]));
  for (const { name, warnings = [] } of items) for (const { message } of warnings) printError(inLine(`${name}: ${message}`));
}

async function rotate(id: string, { overlap, ...options }: Options & { overlap?: string }): Promise<void> {
  const { client } = connectService(options);
  const overlapSeconds = Math.round((overlap === undefined ? 24 : numberOf(overlap, '--overlap')) * 3_600);
  const rotated = await client.post('/v1/keys/{key}/rotate', { params: { path: { key: id } }, body: { overlapSeconds } });
  printKey(rotated, options);
  if (!options.json && rotated.previousExpiresAt !== null) printError(inLine(`The old secret works until ${rotated.previousExpiresAt}.`));
}

async function revoke(id: string, { cancel, ...options }: Options & { cancel?: true }): Promise<void> {
  const { client } = connectService(options);
  const done = await client.delete('/v1/keys/{key}', {
    params: { path: { key: id }, query: { cancel: cancel === true ? 'true' : 'false' } },
  });
  if (options.json) return printJson(done ?? {});
  print(`The key ${id} is revoked. It is refused everywhere within 30 seconds.`);
}

async function rotateMaster({ data }: { data?: string }): Promise<void> {
  const { path: dataDir } = dataFolderOf(process.env, data);
  const fault = await keyFault(dataDir, process.env);
  if (fault !== null) throw new StartFailure(fault);
  const file = rotateMasterKey(dataDir, process.env);
  const next = isInUse(dataDir) ? 'Restart the service' : 'Start the service';
  print(`${file} has a new master key, and the one before. ${next}: it seals everything again, then removes the one before.`);
}

/** The key alone goes to stdout, for scripts. */
function printKey(key: components['schemas']['CreatedKey'], { json }: JsonOption): void {
  if (json) {
    printJson(key);
    return;
  }
  printError(inLine(`${key.name} (${key.id}), shown only once:`));
  printData(key.key);
}

function numberOf(text: string, option: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new CommandFailure(`${option} is "${text}", which is not a number.`, `Example: ${option} 12`, exitCodes.usage);
  return number;
}
