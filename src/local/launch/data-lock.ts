/** Allows one running service per data folder: two services with the same SQLite files would damage each other's state. */
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartFailure } from './start-failure.ts';

/**
 * The process that holds the lock, and its start time if the system reports it (otherwise `''`). Process ids are reused, in containers
 * soon.
 */
export type Owner = { pid: number; began: string };

/** Returns a function that releases the lock. A lock of an ended process is ignored. */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'lock');
  if (!tryLock(file)) {
    const owner = readOwnerFile(file);
    if (owner !== null && isRunning(owner)) {
      throw new StartFailure(
        `Another Moniker (process ${owner.pid}) is using ${dataDir}. Stop it, or give this one its own folder: MONIKER_DATA_DIR=… npm start`,
      );
    }
    rmSync(file, { force: true });
    if (!tryLock(file)) throw new StartFailure(`Another Moniker is starting in ${dataDir} at this moment. Try again.`);
  }
  return () => {
    if (readOwnerFile(file)?.pid === process.pid) rmSync(file, { force: true });
  };
}

/** Returns the process id of the service that runs in the folder, or null. */
export function runningService(dataDir: string): number | null {
  try {
    const owner = readOwnerFile(join(dataDir, 'lock'));
    return owner !== null && isRunning(owner) ? owner.pid : null;
  } catch {
    // The folder belongs to another user, whose service this user cannot use.
    return null;
  }
}

function tryLock(file: string): boolean {
  try {
    writeOwnerFile(file, process.pid, 'wx');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false; // fs errors carry a code
    throw error;
  }
}

/** Writes to a file which process has something. `flag`: as of `open`. */
export function writeOwnerFile(file: string, pid: number, flag: 'w' | 'wx'): void {
  writeFileSync(file, `${pid} ${readProcess(pid)?.began ?? ''}\n`, { flag, mode: 0o600 });
}

/** Returns null if there is no such file, or it is damaged. */
export function readOwnerFile(file: string): Owner | null {
  try {
    return parseOwner(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // released in between
    throw error;
  }
}

export function parseOwner(text: string): Owner | null {
  const [id = '', began = ''] = text.trim().split(' ');
  const pid = Number(id);
  return Number.isInteger(pid) && pid > 0 ? { pid, began } : null;
}

/**
 * Whether it is certain, as far as the system reports it, that this user runs the process that wrote the file. A file without a start time
 * could name any process.
 */
export function isOwnProcess({ pid, began }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    // It has ended, or is another user's.
    return false;
  }
  const found = readProcess(pid);
  return found === null || (!found.isDead && began === found.began && found.uid === process.geteuid?.());
}

/** Whether the process still exists, and its id was not reused. */
export function isRunning({ pid, began }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  const found = readProcess(pid);
  return found === null || (!found.isDead && (began === '' || began === found.began));
}

/** Returns null without `/proc`. A killed process whose parent has not waited for it is listed there, but is dead (proc_pid_stat(5)). */
function readProcess(pid: number): { isDead: boolean; began: string; uid: number } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The process name may contain anything, including closing brackets; the state is field 3, the start time field 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { isDead: fields[0] === 'Z' || fields[0] === 'X', began: fields[19] ?? '', uid: statSync(`/proc/${pid}`).uid };
  } catch {
    // Another system, or the process has just ended: only its id is known.
    return null;
  }
}
