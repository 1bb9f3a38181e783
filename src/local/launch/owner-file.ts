/**
 * Files of the data folder that name a process: the launcher (`lock`) and its runtime (`state/workerd.pid`). A file counts only where it was
 * written: in a copy of the folder it names a process of the original.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * `began`: its start time if the system reports it, otherwise `''`. Process ids are reused, in containers soon. `folder`: device and inode of
 * the folder in which the file was written; `''` in files of releases up to 0.1.
 */
export type Owner = { pid: number; began: string; folder: string };

export function writeOwnerFile(file: string, pid: number): void {
  writeFileSync(file, `${pid} ${readProcess(pid)?.began ?? ''} ${folderId(dirname(file))}\n`, { mode: 0o600 });
}

/** Returns null if there is no such file, it is damaged, or it came with a copy of the folder. */
export function readOwnerFile(file: string): Owner | null {
  try {
    return parseOwner(readFileSync(file, 'utf8'), file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null; // released in between
    throw error;
  }
}

/** `file`: where the text was read. */
export function parseOwner(text: string, file: string): Owner | null {
  const [id = '', began = '', folder = ''] = text.trim().split(' ');
  const pid = Number(id);
  const isCopy = folder !== '' && folder !== folderId(dirname(file));
  return Number.isInteger(pid) && pid > 0 && !isCopy ? { pid, began, folder } : null;
}

function folderId(folder: string): string {
  const { dev, ino } = statSync(folder, { bigint: true });
  return `${dev}:${ino}`;
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

/** Returns the command line of a process; null where the system does not report it (Windows), `''` if it has ended. */
export function commandLineOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // Not Linux, or it has just ended.
    const { status, stdout } = spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', timeout: 5_000 });
    return status === null ? null : stdout;
  }
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
