/**
 * A copy of what a plan reads of a data folder, for a service that writes: the documents of all workspaces, and the bundle. The data folder itself
 * stays as it is, and no session, schedule or queue of it continues in the copy.
 */
import { constants, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { formatFile } from './data-format.ts';
import { lockDataDir } from './data-lock.ts';
import { objectsFolder } from '../workerd/config.ts';

/** `path`: a data folder, readable by this user only, without the keys of the other one. */
export type PlanCopy = { path: string; remove(): void };

/** Throws `StartFailure` if a service starts in the folder meanwhile. The folder need not exist. */
export function copyForPlan(dataDir: string): PlanCopy {
  const path = mkdtempSync(join(tmpdir(), 'moniker-plan-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  try {
    if (existsSync(dataDir)) copyParts(dataDir, path);
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function copyParts(from: string, to: string): void {
  // Files of a database that is being written are no copy.
  const unlock = lockDataDir(from);
  try {
    const [objects, copies] = [objectsFolder(join(from, 'state')), objectsFolder(join(to, 'state'))];
    const catalogs = existsSync(objects) ? readdirSync(objects).filter((name) => name.endsWith('-Catalog')) : [];
    for (const name of catalogs) copy(join(objects, name), join(copies, name));
    if (existsSync(join(from, formatFile))) copy(join(from, formatFile), join(to, formatFile));
    if (existsSync(join(from, 'bundle'))) copy(join(from, 'bundle'), join(to, 'bundle'));
  } finally {
    unlock();
  }
}

/** Without `metadata.sqlite`, the list of alarms to wake objects for. */
function copy(from: string, to: string): void {
  const filter = (path: string): boolean => !basename(path).startsWith('metadata.sqlite');
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE, filter });
}
