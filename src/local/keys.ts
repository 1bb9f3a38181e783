/**
 * The root key (who may do everything) and the master key (what secrets are encrypted with) of this machine: from the
 * environment, else from `<data folder>/keys`, which is made on the first run and readable by its owner only.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './start-failure.ts';

/** `isNew`: the root key was made by this start. `rootKeyFile`: null where the environment gave the root key. */
export type Keys = { rootKey: string; masterKey: string; isNew: boolean; rootKeyFile: string | null };

const rootName = 'MONIKER_ROOT_KEY';
const masterName = 'MONIKER_MASTER_KEY';
/** The Worker refuses shorter ones too (`core/settings.ts`); here the message reaches the person who set it. */
const minKeyLength = 32;

export function readKeys(dataDir: string, environment: NodeJS.ProcessEnv): Keys {
  const file = join(dataDir, 'keys');
  const isMade = !existsSync(file);
  if (isMade) writeKeys(file);
  // Also when it came from a backup or another tool with looser rights.
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

/** The data folder, for its owner only. */
export function makeDataDir(dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
}

function pick(name: string, stored: ReadonlyMap<string, string>, environment: NodeJS.ProcessEnv, file: string): string {
  const given = environment[name]?.trim();
  if (given && given.length < minKeyLength) {
    throw new StartFailure(
      `${name} has ${given.length} characters; it needs at least ${minKeyLength}. Try: ${name}=$(openssl rand -hex 32)\n` +
        `Or unset it: the key in ${file} is used then.`,
    );
  }
  const key = given || stored.get(name);
  if (!key || key.length < minKeyLength) {
    throw new StartFailure(`${file} has no usable ${name}. Put the key back, or move the file away to have new keys made.`);
  }
  return key;
}

/** Written beside and renamed, so that a cut leaves either no file or a whole one. */
function writeKeys(file: string): void {
  const fresh = `${file}.${process.pid}.new`;
  const lines = [`${rootName}=moniker_${randomKey(24)}`, `${masterName}=${randomKey(32)}`];
  writeFileSync(fresh, `${lines.join('\n')}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Letters and digits only, so that a double click selects the whole key. */
function randomKey(bytes: number): string {
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
