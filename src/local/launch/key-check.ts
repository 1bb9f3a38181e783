/**
 * Which master key the data of a folder was sealed with: `state/key-check` has its fingerprint, which reveals nothing about the key. A lost or
 * other `keys` file is refused before new keys are made beside data that they cannot open.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createMasterKey } from '../../storage/keys/master-key.ts';
import { objectsFolder } from '../workerd/config.ts';
import { type Keys, keysInUse, readKeys } from './keys.ts';
import { replaceFile } from './own-file.ts';
import { StartFailure } from './start-failure.ts';

/** Returns the keys of a start in the folder, making them for a new one. Throws `StartFailure` if they are not those of its data. */
export async function claimKeys(dataDir: string, environment: NodeJS.ProcessEnv): Promise<Keys> {
  const fault = await keyFault(dataDir, environment);
  if (fault !== null) throw new StartFailure(fault);
  const keys = readKeys(dataDir, environment);
  // Everything is sealed with the previous key until it is sealed again.
  if (!existsSync(checkFile(dataDir))) await recordMasterKey(dataDir, keys.previousMasterKey ?? keys.masterKey);
  return keys;
}

/** Call when all data of the folder is sealed with this key. */
export async function recordMasterKey(dataDir: string, masterKey: string): Promise<void> {
  const file = checkFile(dataDir);
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, `${await fingerprint(masterKey)}\n`, { mode: 0o600, flush: true });
}

/** Returns why the keys of the folder and of the environment cannot be used with its data, and what to do. Null: they can. Writes nothing. */
export async function keyFault(dataDir: string, environment: NodeJS.ProcessEnv): Promise<string | null> {
  if (!existsSync(objectsFolder(join(dataDir, 'state')))) return null;
  const { file, masterKey, previousMasterKey, isGiven } = keysInUse(dataDir, environment);
  const wayOut = [
    `Restore ${file} from a copy, or set MONIKER_MASTER_KEY to the key of the data. To begin anew, move ${dataDir} away.`,
    `If the key is lost: remove ${checkFile(dataDir)}, and set MONIKER_MASTER_KEY to a new one (openssl rand -hex 32). Sessions and documents are kept; secrets must be written again, and API keys replaced.`,
  ].join('\n');
  if (masterKey === null) {
    const what = existsSync(file) ? 'has no MONIKER_MASTER_KEY' : 'does not exist';
    return `${file} ${what}, but ${dataDir} has data: its secrets and API keys need the key that they were made with.\n${wayOut}`;
  }
  if (!existsSync(checkFile(dataDir))) return null;
  const known = readFileSync(checkFile(dataDir), 'utf8').trim();
  const [found, before] = await Promise.all([masterKey, previousMasterKey].map((key) => (key === null ? null : fingerprint(key))));
  if (known === found || known === before) return null;
  const whose = isGiven ? 'MONIKER_MASTER_KEY of the environment' : `MONIKER_MASTER_KEY in ${file}`;
  return `${whose} (fingerprint ${found}) is not the key of the data in ${dataDir} (fingerprint ${known}).\n${wayOut}`;
}

function checkFile(dataDir: string): string {
  return join(dataDir, 'state', 'key-check');
}

function fingerprint(masterKey: string): Promise<string> {
  return createMasterKey(masterKey).id();
}
