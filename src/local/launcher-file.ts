/**
 * The file `launcher` in the data folder of a running service: its address, and a token that proves access to this machine's data folder
 * (contract §9). Written at each start, readable only by its owner, removed at the end.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf, stringOf, tryParse } from '../core/json/wire-value.ts';

export type Launcher = { url: string; token: string };

export function newLauncherToken(): string {
  return randomBytes(32).toString('hex');
}

/** Returns a function that removes the file. */
export function writeLauncherFile(dataDir: string, launcher: Launcher): () => void {
  const file = launcherFile(dataDir);
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, `${JSON.stringify(launcher)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
  return () => removeLauncherFile(dataDir);
}

export function removeLauncherFile(dataDir: string): void {
  rmSync(launcherFile(dataDir), { force: true });
}

/** Returns null without a file, or if it is damaged. The service may have been killed since it was written. */
export function readLauncherFile(dataDir: string): Launcher | null {
  try {
    const stored = recordOf(tryParse(readFileSync(launcherFile(dataDir), 'utf8')));
    const [url, token] = [stringOf(stored.url), stringOf(stored.token)];
    return url !== '' && token !== '' ? { url, token } : null;
  } catch {
    // No service has been started in this folder, or the folder belongs to another user.
    return null;
  }
}

function launcherFile(dataDir: string): string {
  return join(dataDir, 'launcher');
}
