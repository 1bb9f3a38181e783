/**
 * The root key (with all permissions) and the master key (which encrypts secrets) of this machine: from the environment, otherwise from
 * `<data folder>/keys`, which is created on the first start and readable only by its owner.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { minRootKeyLength } from '../../core/people/settings.ts';
import { readOwnFile, replaceFile } from './own-file.ts';
import { StartFailure } from './start-failure.ts';

/** `isNew`: this start created the root key. `rootKeyFile`: null if the root key comes from the environment. */
export type Keys = {
  rootKey: string;
  masterKey: string;
  /** The one before, until everything is sealed again (`start.ts`). */
  previousMasterKey: string | null;
  isNew: boolean;
  rootKeyFile: string | null;
};

const rootName = 'MONIKER_ROOT_KEY';
const masterName = 'MONIKER_MASTER_KEY';
const previousMasterName = 'MONIKER_MASTER_KEY_PREVIOUS';

export function readKeys(dataDir: string, environment: NodeJS.ProcessEnv): Keys {
  const file = join(dataDir, 'keys');
  const isMade = !existsSync(file);
  if (isMade) writeKeys(file);
  // Also if it came from a backup or another tool with wider permissions.
  chmodSync(file, 0o600);
  const stored = parseVariables(readFileSync(file, 'utf8'));
  const rootKey = pick(rootName, stored, environment, file);
  const isStored = rootKey === stored.get(rootName);
  return {
    rootKey,
    masterKey: pick(masterName, stored, environment, file),
    previousMasterKey: environment[previousMasterName]?.trim() || stored.get(previousMasterName) || null,
    isNew: isMade && isStored,
    rootKeyFile: isStored ? file : null,
  };
}

/**
 * Puts a new master key into the file, and keeps the one before. Takes effect with the next start. Throws while a rotation is unfinished, and
 * if the key is not from the file.
 */
export function rotateMasterKey(dataDir: string, environment: NodeJS.ProcessEnv): string {
  const file = join(dataDir, 'keys');
  if (!existsSync(file)) throw new StartFailure(`${file} does not exist. Name the data folder of the service with --data.`);
  const stored = parseVariables(readFileSync(file, 'utf8'));
  const before = stored.get(masterName);
  if (environment[masterName]?.trim() || !before)
    throw new StartFailure(
      `${masterName} comes from the environment. Set ${previousMasterName} to its value and ${masterName} to a new one (openssl rand -hex 32), then restart the service.`,
    );
  if (stored.has(previousMasterName))
    throw new StartFailure(`The last rotation is not finished: ${file} still has the key before. Start the service and wait for it.`);
  replaceKeys(file, new Map([...stored, [masterName, randomKey(32)], [previousMasterName, before]]));
  return file;
}

/** Removes the previous master key from the file. Returns false if it is not there. */
export function forgetPreviousMasterKey(dataDir: string): boolean {
  const file = join(dataDir, 'keys');
  const stored = parseVariables(readFileSync(file, 'utf8'));
  if (!stored.delete(previousMasterName)) return false;
  replaceKeys(file, stored);
  return true;
}

/** The keys that a start in the folder would use, as variables. Empty if neither the folder nor the environment has any. Writes nothing. */
export function keyVariables(dataDir: string, environment: NodeJS.ProcessEnv): Record<string, string> {
  const stored = parseVariables(readOwnFile(join(dataDir, 'keys')) ?? '');
  const names = [rootName, masterName, previousMasterName];
  return Object.fromEntries(
    names.flatMap((name) => {
      const key = environment[name]?.trim() || stored.get(name);
      return key ? [[name, key]] : [];
    }),
  );
}

/** The master key that a start in the folder would use, and the one before. `isGiven`: it comes from the environment. Makes nothing. */
export function keysInUse(dataDir: string, environment: NodeJS.ProcessEnv) {
  const file = join(dataDir, 'keys');
  const stored = existsSync(file) ? parseVariables(readFileSync(file, 'utf8')) : new Map<string, string>();
  const keyOf = (name: string): string | null => environment[name]?.trim() || stored.get(name) || null;
  return {
    file,
    masterKey: keyOf(masterName),
    previousMasterKey: keyOf(previousMasterName),
    isGiven: Boolean(environment[masterName]?.trim()),
  };
}

/** Returns the root key of an existing data folder, or null. */
export function storedRootKey(dataDir: string): string | null {
  try {
    return parseVariables(readOwnFile(join(dataDir, 'keys')) ?? '').get(rootName) || null;
  } catch {
    // The file belongs to another user, or is not one.
    return null;
  }
}

function pick(name: string, stored: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv, file: string): string {
  const given = environment[name]?.trim();
  const key = given || stored.get(name);
  if (!key || key.length < minRootKeyLength) {
    throw new StartFailure(`${file} has no valid ${name}. Restore the file from a copy, or set ${name}.`);
  }
  return key;
}

function writeKeys(file: string): void {
  const keys = [
    [rootName, `moniker_${randomKey(24)}`],
    [masterName, randomKey(32)],
  ] as const;
  replaceKeys(file, new Map(keys));
}

function replaceKeys(file: string, keys: ReadonlyMap<string, string>): void {
  const lines = Array.from(keys, ([name, value]) => `${name}=${value}`);
  replaceFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flush: true });
}

/** Only letters and digits, so that a double click selects the complete key. */
export function randomKey(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}

function parseVariables(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0 && !line.startsWith('#')) values.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return values;
}
