/** `moniker logs`: the log that a service of this machine writes into its data folder, with the stderr of its stdio servers. */
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { dataFolderOf } from '../local/launch/environment.ts';
import { isInUse } from '../local/launch/data-lock.ts';
import { logFiles } from '../local/launch/log-file.ts';
import { CommandFailure, exitCodes } from './failure.ts';
import { printData, printError } from '../local/printing.ts';

type LogOptions = { data?: string; lines: string; follow?: boolean };

const pollMs = 250;
const chunkBytes = 64 * 1024;

export function addLogsCommand(program: Command): void {
  program
    .command('logs')
    .description('print the log of the service on this machine; lines of the service are JSON')
    .option('--data <folder>', 'data folder of the service (default: MONIKER_DATA_DIR, else .moniker)')
    .option('-n, --lines <number>', 'number of earlier lines', '100')
    .option('-f, --follow', 'wait for new lines until Ctrl-C')
    .addHelpText('after', '\nExample:\n  moniker logs --follow')
    .action(logs);
}

async function logs({ data, lines, follow }: LogOptions): Promise<void> {
  const count = Number(lines);
  if (!Number.isInteger(count) || count < 0)
    throw new CommandFailure(`--lines is "${lines}", which is not a number of lines.`, 'Use 0 or more.', exitCodes.usage);
  const { path: dataDir } = dataFolderOf(process.env, data);
  const { current, previous } = logFiles(dataDir);
  const size = sizeOf(current);
  if (size === null && !follow) {
    if (isInUse(dataDir)) return printError(`The service in ${dataDir} has logged nothing since its start.`);
    throw new CommandFailure(
      `There is no log in ${dataDir}.`,
      'Start the service with `moniker start`, or name its folder with --data. A deployed service logs to Cloudflare: `npx wrangler tail`.',
    );
  }
  const earlier = `${read(previous)}${read(current).slice(0)}`.split('\n').slice(0, -1);
  for (const line of count === 0 ? [] : earlier.slice(-count)) printData(line);
  if (follow) await followFile(current, size ?? 0);
}

/** Prints what is appended. A file that has become shorter is a new one. */
async function followFile(file: string, from: number): Promise<void> {
  let position = from;
  let rest = '';
  let decoder = new StringDecoder('utf8');
  for (;;) {
    const size = sizeOf(file) ?? 0;
    if (size < position) {
      position = 0;
      rest = '';
      decoder = new StringDecoder('utf8');
    }
    while (position < size) {
      const chunk = readChunk(file, position);
      if (chunk.length === 0) break;
      position += chunk.length;
      const parts = (rest + decoder.write(chunk)).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) printData(line);
    }
    await sleep(pollMs);
  }
}

function readChunk(file: string, position: number): Buffer {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(chunkBytes);
    return buffer.subarray(0, readSync(handle, buffer, 0, chunkBytes, position));
  } finally {
    closeSync(handle);
  }
}

function read(file: string): string {
  return sizeOf(file) === null ? '' : readFileSync(file, 'utf8');
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}
