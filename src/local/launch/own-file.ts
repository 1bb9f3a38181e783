/**
 * Reads files that decide where credentials go. They count only if other users cannot have written them. A cloned folder belongs to its user
 * as well, so this says nothing about who wrote the text (`trusted-folders.ts`). And writes files as a whole.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  statSync,
  writeFileSync,
  type WriteFileOptions,
} from 'node:fs';
import { StartFailure } from './start-failure.ts';

const maxBytes = 256 * 1024;
const writableByOthers = 0o022;
const openToOthers = 0o077;

/**
 * Returns the text, or null if there is no such file. `isSecret`: others must not be able to read it, either. Throws `StartFailure` for
 * anything but a file of this user, also for a link.
 */
export function readOwnFile(file: string, { isSecret = false } = {}): string | null {
  const handle = open(file);
  if (handle === null) return null;
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile()) throw new StartFailure(`${file} is not a regular file`);
    requireOwn(file, stats, isSecret ? openToOthers : writableByOthers);
    if (stats.size > maxBytes) throw new StartFailure(`${file} has more than ${maxBytes} bytes`);
    return readFileSync(handle, 'utf8');
  } finally {
    closeSync(handle);
  }
}

/** Throws `StartFailure` if other users own the folder or can change what is in it. */
export function requireOwnFolder(folder: string): void {
  requireOwn(folder, statSync(folder), writableByOthers);
}

/** Writes to another file and renames it: a reader, and the next start after a crash, find the old content or the new one. */
export function replaceFile(file: string, content: string | Uint8Array, options: WriteFileOptions = {}): void {
  const fresh = `${file}.${process.pid}.new`;
  writeFileSync(fresh, content, options);
  renameSync(fresh, file);
}

function open(file: string): number | null {
  try {
    // Windows has neither flag. A pipe without a writer would block.
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // fs errors carry a code
    if (code === 'ENOENT') return null;
    throw new StartFailure(code === 'ELOOP' ? `${file} is a link` : `${file} cannot be read (${code})`);
  }
}

/** Windows has neither user ids nor modes. */
function requireOwn(path: string, { uid, mode }: Stats, forbidden: number): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  if (uid !== user) throw new StartFailure(`${path} belongs to another user`);
  if ((mode & forbidden) !== 0)
    throw new StartFailure(
      `other users can ${forbidden === openToOthers ? 'read or ' : ''}change ${path} (chmod ${forbidden === openToOthers ? 'go-rwx' : 'go-w'} prevents it)`,
    );
}
