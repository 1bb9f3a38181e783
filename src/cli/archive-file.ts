/** Archives of workspaces as files: read line by line, with all checks that need no key. A name that ends with `.gz` is compressed. */
import { createReadStream } from 'node:fs';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { type ArchiveLine, type ArchivePart, maxLineBytes, nameOfObject, readArchivePart, readLine } from '../core/backup/archive.ts';
import { Problem } from '../core/problem.ts';
import { readBoundedLines } from './bounded-lines.ts';
import { CommandFailure, messageOf } from './failure.ts';

export type CheckedLine = { text: string; part: ArchivePart };

/** Checks lines in their order. Throws `CommandFailure` for the first one that is damaged. */
export class ArchiveCheck {
  #previous: Pick<ArchiveLine, 'number' | 'hash'> | null = null;
  parts = 0;
  sessions = 0;
  leftOut: readonly string[] = [];
  isComplete = false;

  add(text: string): ArchivePart {
    try {
      if (this.isComplete) throw new CommandFailure('The archive has more lines after its end.', 'Use another copy of it.');
      const line = readLine(text, this.#previous);
      this.#previous = { number: line.number, hash: line.hash };
      const part = readArchivePart(line);
      this.parts += 1;
      if (part.kind !== 'end') return part;
      this.isComplete = true;
      this.sessions = part.sessions;
      this.leftOut = part.leftOut.map(({ object, reason }) => `${nameOfObject(object)}: ${reason}`);
      return part;
    } catch (error) {
      if (error instanceof Problem) throw new CommandFailure(error.detail, '');
      throw error;
    }
  }
}

/** Yields the lines of a file. Throws `CommandFailure` if it is damaged or not complete. */
export async function* readArchiveFile(file: string): AsyncGenerator<CheckedLine, ArchiveCheck> {
  const check = new ArchiveCheck();
  try {
    // One more byte shows that a line was cut.
    for await (const text of readBoundedLines(await open(file), maxLineBytes + 1)) {
      if (text.length > maxLineBytes)
        throw new CommandFailure(`Line ${check.parts + 1} of ${file} is too long for an archive.`, 'Use another copy of it.');
      yield { text, part: check.add(text) };
    }
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    throw new CommandFailure(`${file} cannot be read: ${messageOf(error)}.`, 'Give the path of an archive that `moniker backup` wrote.');
  }
  if (!check.isComplete)
    throw new CommandFailure(
      `${file} ends after ${check.parts} parts, without its end: it is cut off.`,
      'Use another copy of the archive.',
    );
  return check;
}

async function open(file: string): Promise<Readable> {
  const stream = createReadStream(file);
  await once(stream, 'open');
  if (!file.endsWith('.gz')) return stream;
  const gunzip = createGunzip();
  stream.on('error', (error) => gunzip.destroy(error));
  return stream.pipe(gunzip);
}
