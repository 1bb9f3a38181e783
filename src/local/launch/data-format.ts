/**
 * The file `format` in the data folder: the number of the format of its data, written with the first data. A release that adds a step to the
 * schema of an object increases the number, so that earlier releases refuse the folder in one line before an object refuses a request.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectsFolder } from '../workerd/config.ts';
import { StartFailure } from './start-failure.ts';

/** A test compares it with the number of schema steps. */
export const dataFormat = 6;

export const formatFile = 'format';

/** Throws `StartFailure` for data of another release that this one cannot read. Writes the file otherwise. */
export function claimDataFormat(dataDir: string): void {
  const fault = formatFault(dataDir);
  if (fault !== null) throw new StartFailure(fault);
  if (readFormat(dataDir) !== String(dataFormat)) writeFileSync(join(dataDir, formatFile), `${dataFormat}\n`);
}

/** Returns why this release cannot read the data, and what to do; null: it can. */
export function formatFault(dataDir: string): string | null {
  const found = readFormat(dataDir);
  if (found === null && existsSync(objectsFolder(join(dataDir, 'state'))))
    return `The data in ${dataDir} is of a build before 0.1.0, which no release reads. Move the folder away, or use another one: MONIKER_DATA_DIR=…`;
  if (found !== null && !(Number(found) <= dataFormat))
    return `The data in ${dataDir} was written by a newer release of Moniker (format ${found}). Run that release or a newer one, or restore a backup.`;
  return null;
}

function readFormat(dataDir: string): string | null {
  const file = join(dataDir, formatFile);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}
