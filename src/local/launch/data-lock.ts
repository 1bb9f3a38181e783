/**
 * Allows one running service per data folder: two services with the same SQLite files would damage each other's state. The lock is SQLite's
 * own on the empty database `lock.db`: a record lock of the kernel (docs/decisions/2026-11-30-lock-by-sqlite.md). The file `lock` says whose
 * it is.
 */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../sqlite.ts';
import { isRunning, readOwnerFile, writeOwnerFile } from './owner-file.ts';
import { StartFailure } from './start-failure.ts';

/** A command that looks whether the folder is in use holds a shared lock for a moment. */
const lockTimeoutMs = 1_000;
/** Result codes of SQLite (sqlite.org/rescode.html), the low byte. */
const busyCode = 5;
/** PERM, READONLY, CANTOPEN. */
const unwritableCodes = new Set([3, 8, 14]);

/** Locks must outlive the last reference to their release: a database that is collected is closed. */
const held = new Set<DatabaseSync>();

/** Creates the data folder, accessible only to its owner. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    chmodSync(dataDir, 0o700);
    accessSync(dataDir, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException; // fs errors carry a code
    throw unwritableReasons.has(code) ? unwritable(dataDir, code) : error;
  }
}

const unwritableReasons = new Set(['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR']);

function unwritable(dataDir: string, code = 'EACCES'): StartFailure {
  const why = code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be written by this user (${code})`;
  return new StartFailure(`${dataDir} ${why}. Change it, or use another folder: MONIKER_DATA_DIR=… or --data.`);
}

/**
 * Returns a function that releases the lock. The kernel releases it when this process ends, however it ends. No other code of this process may
 * open `lock.db`: closing any descriptor of a file drops the record locks of the process (fcntl(2)).
 */
export function lockDataDir(dataDir: string): () => void {
  const file = join(dataDir, 'lock');
  const database = openLock(dataDir);
  try {
    database.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}; BEGIN EXCLUSIVE`);
    // Of a release without `lock.db`, or where the file system ignores locks.
    const owner = readOwnerFile(file);
    if (owner !== null && isRunning(owner)) throw inUse(dataDir, owner.pid);
    writeOwnerFile(file, process.pid);
  } catch (error) {
    database.close();
    throw isBusy(error) ? inUse(dataDir, runningPid(file)) : lockFailure(dataDir, error);
  }
  held.add(database);
  return () => {
    if (!held.delete(database)) return;
    rmSync(file, { force: true });
    database.close();
  };
}

/** Whether a service runs in the folder, also in another container. */
export function isInUse(dataDir: string): boolean {
  try {
    const owner = readOwnerFile(join(dataDir, 'lock'));
    return (owner !== null && isRunning(owner)) || isLocked(dataDir);
  } catch {
    // The folder belongs to another user, whose service this user cannot use.
    return false;
  }
}

function isLocked(dataDir: string): boolean {
  if (!existsSync(join(dataDir, 'lock.db'))) return false;
  const database = openLock(dataDir);
  try {
    // A shared lock for the time of the statement.
    database.exec('SELECT count(*) FROM sqlite_schema');
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    database.close();
  }
}

/**
 * Nothing is ever written to it, so SQLite reads no content of others, and opens neither a link nor a pipe.
 */
function openLock(dataDir: string): DatabaseSync {
  const file = join(dataDir, 'lock.db');
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found !== undefined && (!found.isFile() || found.size > 0))
    throw new StartFailure(`${file} is not the lock of a data folder, which is an empty file. Remove it.`);
  try {
    return openDatabase(file);
  } catch (error) {
    throw lockFailure(dataDir, error);
  }
}

/** The process that the file names, if this system knows it. */
function runningPid(file: string): number | null {
  const owner = readOwnerFile(file);
  return owner !== null && isRunning(owner) ? owner.pid : null;
}

function inUse(dataDir: string, pid: number | null): StartFailure {
  const whose = pid === null ? 'of another container or machine' : `process ${pid}`;
  return new StartFailure(
    `Another Moniker (${whose}) is using ${dataDir}. Stop it, or give this one its own folder: MONIKER_DATA_DIR=… npm start`,
  );
}

function lockFailure(dataDir: string, error: unknown): unknown {
  if (error instanceof StartFailure || !isSqlite(error)) return error;
  if (unwritableCodes.has(error.errcode & 0xff)) return unwritable(dataDir);
  return new StartFailure(
    `${join(dataDir, 'lock.db')} cannot be locked (${error.message}). The data folder needs a file system with working locks: a local disk, or NFS 4.`,
  );
}

function isBusy(error: unknown): boolean {
  return isSqlite(error) && (error.errcode & 0xff) === busyCode;
}

function isSqlite(error: unknown): error is Error & { errcode: number } {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';
}
