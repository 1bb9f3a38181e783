/**
 * The root key (with all permissions) and the master key (which encrypts secrets) of this machine: from the environment, otherwise from
 * `<data folder>/keys`, which is created on the first start and readable only by its owner.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './start-failure.ts';

/** `isNew`: this start created the root key. `rootKeyFile`: null if the root key comes from the environment. */
export type Keys = { rootKey: string; masterKey: string; isNew: boolean; rootKeyFile: string | null };

const rootName = 'MONIKER_ROOT_KEY';
const masterName = 'MONIKER_MASTER_KEY';
/** The Worker rejects shorter ones too (`core/settings.ts`); this message reaches the user who set it. */
const minKeyLength = 32;

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
    isNew: isMade && isStored,
    rootKeyFile: isStored ? file : null,
  };
}

/** Returns the root key of an existing data folder, or null. */
export function storedRootKey(dataDir: string): string | null {
  try {
    return parseVariables(readFileSync(join(dataDir, 'keys'), 'utf8')).get(rootName) || null;
  } catch {
    // No service has been started in this folder, or the file belongs to another user.
    return null;
  }
}

/** Creates the data folder, accessible only to its owner. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
}

function pick(name: string, stored: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv, file: string): string {
  const given = environment[name]?.trim();
  if (given && given.length < minKeyLength) {
    throw new StartFailure(
      `${name} has ${given.length} characters; it needs at least ${minKeyLength}. Try: ${name}=$(openssl rand -hex 32)\n` +
        `Or unset it to use the key in ${file}.`,
    );
  }
  const key = given || stored.get(name);
  if (!key || key.length < minKeyLength) {
    throw new StartFailure(`${file} has no valid ${name}. Restore the key, or move the file away to create new keys.`);
  }
  return key;
}

/** Written to a temporary file and renamed, so that the file is either missing or complete. */
function writeKeys(file: string): void {
  const fresh = `${file}.${process.pid}.new`;
  const lines = [`${rootName}=moniker_${randomKey(24)}`, `${masterName}=${randomKey(32)}`];
  writeFileSync(fresh, `${lines.join('\n')}\n`, { mode: 0o600 });
  renameSync(fresh, file);
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
