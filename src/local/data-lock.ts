/** One running service a data folder: two of them over the same SQLite files would damage each other's state. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './failure.ts';

/** Returns what releases it. A lock whose process is gone counts for nothing. */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'lock');
  if (!tryLock(file)) {
    const owner = readOwner(file);
    if (owner !== null && isRunning(owner)) {
      throw new StartFailure(
        `Another Moniker (process ${owner}) is using ${dataDir}. Stop it, or give this one its own folder: MONIKER_DATA_DIR=… npm start`,
      );
    }
    rmSync(file, { force: true });
    if (!tryLock(file)) throw new StartFailure(`Another Moniker is starting in ${dataDir} at this moment. Try again.`);
  }
  return () => {
    if (readOwner(file) === process.pid) rmSync(file, { force: true });
  };
}

function tryLock(file: string): boolean {
  try {
    writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // fs errors carry a code
    throw error;
  }
}

function readOwner(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // released in between
    throw error;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
