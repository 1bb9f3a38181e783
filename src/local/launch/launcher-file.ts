/**
 * The file `launcher` in the data folder of a running service: its address, and a token that proves access to this machine's data folder
 * (contract §9). Written at each start, readable only by its owner, removed at the end.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { equalInConstantTime } from '../../core/constant-time.ts';
import { recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';
import { storedRootKey } from './keys.ts';
import { readOwnFile, replaceFile } from './own-file.ts';
import { StartFailure } from './start-failure.ts';

export type Launcher = { url: string; token: string };

export function newLauncherToken(): string {
  return randomBytes(32).toString('hex');
}

/** Returns a function that removes the file. */
export function writeLauncherFile(dataDir: string, launcher: Launcher): () => void {
  replaceFile(launcherFile(dataDir), `${JSON.stringify({ ...launcher, mac: macOf(dataDir, launcher) })}\n`, { mode: 0o600 });
  return () => removeLauncherFile(dataDir);
}

export function removeLauncherFile(dataDir: string): void {
  rmSync(launcherFile(dataDir), { force: true });
}

/**
 * Returns null without a file, or if it is damaged. The service may have been killed since it was written. Throws `StartFailure` for a file
 * that others can read or change.
 */
export function readLauncherFile(dataDir: string): Launcher | null {
  return readStored(dataDir)?.launcher ?? null;
}

/** The same, and throws `StartFailure` if the file was not written with the keys of the folder: it was put there. */
export function readSignedLauncherFile(dataDir: string): Launcher | null {
  const stored = readStored(dataDir);
  if (stored === null) return null;
  const mac = macOf(dataDir, stored.launcher);
  if (mac === null || !equalInConstantTime(stored.mac, mac))
    throw new StartFailure(`${launcherFile(dataDir)} was not written by a service of this folder`);
  return stored.launcher;
}

function readStored(dataDir: string): { launcher: Launcher; mac: string } | null {
  const stored = recordOf(tryParse(readOwnFile(launcherFile(dataDir), { isSecret: true }) ?? ''));
  const [url, token] = [stringOf(stored.url), stringOf(stored.token)];
  return url !== '' && token !== '' ? { launcher: { url, token }, mac: stringOf(stored.mac) } : null;
}

/** Null if the folder has no keys. */
function macOf(dataDir: string, { url, token }: Launcher): string | null {
  const rootKey = storedRootKey(dataDir);
  return rootKey === null ? null : createHmac('sha256', rootKey).update(`moniker launcher\n${url}\n${token}`).digest('hex');
}

function launcherFile(dataDir: string): string {
  return join(dataDir, 'launcher');
}
