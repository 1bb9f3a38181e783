/**
 * What this user has decided about folders, stored outside of them: a folder can come from a stranger, with a project file or a data folder
 * that starts commands. A file for each folder in the user's state folder, under the hash of the folder's path.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import type { DataFolder } from './environment.ts';
import { storedRootKey } from './keys.ts';
import { readOwnFile, replaceFile, requireOwnFolder } from './own-file.ts';

/** `project`: hashes of what its project file may do (`core/project/project-effects.ts`). `data`: the fingerprint of a data folder. */
type Decision = { project?: readonly string[]; data?: string };

/** Folders that are remembered; the ones that were decided on longest ago are forgotten. */
const maxFolders = 1_000;
/** Of one folder, over all changes of its project file. */
const maxEffects = 5_000;

/** Returns the hashes of what was accepted for the folder of a project file; null: the user has not decided. */
export function acceptedEffects(folder: string, environment: NodeJS.ProcessEnv): ReadonlySet<string> | null {
  const { project } = read(realpathSync(folder), environment);
  return project === undefined ? null : new Set(project);
}

/** Throws if it cannot be stored. */
export function acceptEffects(folder: string, effects: readonly string[], environment: NodeJS.ProcessEnv): void {
  const path = realpathSync(folder);
  const before = read(path, environment);
  write(path, { ...before, project: [...new Set([...effects, ...(before.project ?? [])])].slice(0, maxEffects) }, environment);
}

/**
 * Whether this user started a service in the data folder, or accepted it. One that was named is the user's choice. A folder that was put in
 * the place of another one has another root key.
 */
export function isTrustedDataFolder({ path, isFound }: DataFolder, environment: NodeJS.ProcessEnv): boolean {
  if (!isFound) return true;
  const { data } = read(placeOf(path), environment);
  return data !== undefined && data === fingerprint(path);
}

/** After its keys were made. Throws if it cannot be stored. */
export function trustDataFolder(path: string, environment: NodeJS.ProcessEnv): void {
  const data = fingerprint(path);
  if (data !== null) write(placeOf(path), { ...read(placeOf(path), environment), data }, environment);
}

export function effectHash(effect: string): string {
  return createHash('sha256').update(effect).digest('hex');
}

/** Links lead to the folder, but the last part of the path is not followed: another folder's data is not the data of this one. */
function placeOf(path: string): string {
  return join(realpathSync(dirname(path)), basename(path));
}

/** Null without keys: nothing shows that it is the same folder later. */
function fingerprint(path: string): string | null {
  const rootKey = storedRootKey(path);
  return rootKey === null ? null : createHash('sha256').update(`moniker data folder\n${rootKey}`).digest('hex');
}

/** A file that is damaged, or that another user could have written, is no decision. */
function read(folder: string, environment: NodeJS.ProcessEnv): Decision {
  try {
    requireOwnFolder(decisionsFolder(environment));
    const stored = recordOf(tryParse(readOwnFile(decisionFile(folder, environment)) ?? ''));
    if (stored.folder !== folder) return {};
    const data = stringOf(stored.data);
    const project = stored.project === undefined ? undefined : listOf(stored.project).filter((one) => typeof one === 'string');
    return { ...(project && { project }), ...(data !== '' && { data }) };
  } catch {
    // Nothing was decided yet, or the file is not to be believed: the user is asked.
    return {};
  }
}

function write(folder: string, decision: Decision, environment: NodeJS.ProcessEnv): void {
  const place = decisionsFolder(environment);
  mkdirSync(place, { recursive: true, mode: 0o700 });
  replaceFile(decisionFile(folder, environment), `${JSON.stringify({ folder, ...decision })}\n`, { mode: 0o600 });
  const files = readdirSync(place).map((name) => join(place, name));
  if (files.length <= maxFolders) return;
  const decidedAt = new Map(files.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0]));
  for (const old of files.sort((a, b) => (decidedAt.get(b) ?? 0) - (decidedAt.get(a) ?? 0)).slice(maxFolders)) rmSync(old, { force: true });
}

function decisionFile(folder: string, environment: NodeJS.ProcessEnv): string {
  return join(decisionsFolder(environment), `${createHash('sha256').update(folder).digest('hex')}.json`);
}

/** XDG Base Directory Specification: a relative path is invalid, and would be in the current folder. */
function decisionsFolder({ XDG_STATE_HOME: given, LOCALAPPDATA: local }: NodeJS.ProcessEnv): string {
  const base =
    given !== undefined && isAbsolute(given)
      ? given
      : process.platform === 'win32' && local !== undefined && isAbsolute(local)
        ? local
        : join(homedir(), process.platform === 'darwin' ? 'Library/Application Support' : '.local/state');
  return join(base, 'moniker', 'folders');
}
