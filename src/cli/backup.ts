/** `moniker backup`: writes the whole workspace to one file (docs/backup.md). */
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import type { Command } from 'commander';
import { ArchiveCheck } from './archive-file.ts';
import { addConnectionOptions, connectService, type ConnectionOptions } from './connection.ts';
import { CommandFailure, exitCodes, messageOf } from './failure.ts';
import { print, printError } from '../local/printing.ts';
import { type JsonOption, inLine, printJson, Progress } from './output.ts';
import { retry } from '../engine/retry.ts';
import { systemClock } from '../platform/clock.ts';

type BackupOptions = ConnectionOptions & JsonOption & { force?: boolean };

/** A page may wait for objects that are written at the same time. */
const pageTimeoutMs = 180_000;
/** How often a page that arrived damaged, or not at all, is requested again. */
const pageAttempts = 3;

export function addBackupCommand(program: Command): void {
  addConnectionOptions(
    program
      .command('backup')
      .description('write the whole workspace to one file: documents, keys, sessions with files, audit')
      .argument('<file>', 'the file to write; compressed if it ends with .gz')
      .option('--force', 'replace the file if it exists')
      .option('--json', 'print the result as JSON')
      .addHelpText(
        'after',
        '\nExample:\n  moniker backup moniker-$(date +%F).jsonl.gz\n\nIt needs the root key. To restore the file, keep MONIKER_MASTER_KEY, too.',
      ),
  ).action(backup);
}

async function backup(file: string, options: BackupOptions): Promise<void> {
  if (!options.force && (await stat(file).catch(() => null)) !== null)
    throw new CommandFailure(`${file} exists.`, 'Choose another name, or replace it with --force.', exitCodes.usage);
  const { client } = connectService(options, pageTimeoutMs);
  // Only a complete archive gets the name.
  const partial = `${file}.partial`;
  const handle = await open(partial, 'w', 0o600).catch((error: unknown) => {
    throw new CommandFailure(`${partial} cannot be written: ${messageOf(error)}.`, 'Choose a file in a folder that you can write to.');
  });
  const progress = new Progress();
  try {
    const check = new ArchiveCheck();
    let bytes = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await readPage(client, cursor);
      for (const line of page.text.split('\n').filter((text) => text !== '')) check.add(line);
      await append(handle, file, page.text);
      bytes += page.text.length;
      cursor = page.next;
      progress.show(`${check.parts} parts, ${megabytes(bytes)}`);
    }
    if (!check.isComplete) throw new CommandFailure('The service ended the archive too early.', 'Run the command again.');
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    progress.end();
    const { parts, sessions, leftOut } = check;
    if (options.json) return printJson({ file, parts, sessions, bytes, leftOut });
    print(`${file}: ${sessions} sessions, ${parts} parts, ${megabytes(bytes)}. It can be restored with the same MONIKER_MASTER_KEY only.`);
    printLeftOut(leftOut);
  } catch (error) {
    progress.end();
    await handle.close().catch(() => undefined);
    await rm(partial, { force: true });
    throw error;
  }
}

/** What an archive does not have, with the reasons. */
export function printLeftOut(leftOut: readonly string[]): void {
  for (const one of leftOut) printError(`left out of the archive: ${inLine(one)}`);
}

type Client = ReturnType<typeof connectService>['client'];

/** Reads a page and its cursor. A page whose transfer breaks is requested again. */
async function readPage(client: Client, cursor: string): Promise<{ text: string; next: string | null }> {
  const policy = { maxRetries: pageAttempts - 1, delayMs: (error: unknown) => (error instanceof TypeError ? 0 : null) };
  return await retry({ clock: systemClock }, policy, async () => {
    const query = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`;
    const response = await client.open('GET', `/v1/backup${query}`, { headers: { accept: 'application/jsonl' } });
    return { text: await response.text(), next: response.headers.get('x-next-cursor') };
  });
}

/** Each page is a member of the compressed file, which programs read as one. */
async function append(handle: FileHandle, file: string, text: string): Promise<void> {
  const bytes = Buffer.from(text, 'utf8');
  try {
    await handle.writeFile(file.endsWith('.gz') ? gzipSync(bytes) : bytes);
  } catch (error) {
    throw new CommandFailure(`The archive cannot be written: ${messageOf(error)}.`, 'Make room on the disk, or write to another one.');
  }
}

export function megabytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
