/** A session's files for its owner over HTTP: resolves paths and maps file system errors to problems. */
import { sha256HexOfBytes } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { resolvePath } from '../../../core/text/path.ts';
import { invalidRequest, Problem } from '../../../core/problem.ts';
import { walkFiles } from '../../../engine/walk-files.ts';
import { FileError, type FileSystem } from '../../../ports/file-system.ts';
import type { DirectoryListing, FileConditions } from '../../../ports/session.ts';

export type FileContent = { content: Uint8Array; modifiedAt: string } | { directory: true };

/** Lists a directory. `path` is relative to `/workspace` unless it begins with `/`. */
export function listSessionFiles(files: FileSystem, path: string, { recursive = false } = {}): DirectoryListing {
  const absolute = toPath(path);
  const { entries, truncated } = asProblem(() => walkFiles(files, absolute, { recursive, most: limits.maxListedTree }));
  const { files: used, bytes } = files.usage?.() ?? { files: 0, bytes: 0 };
  return {
    path: absolute,
    entries: entries.map((entry) => ({ ...entry, modifiedAt: new Date(entry.modifiedAt).toISOString() })),
    truncated,
    usage: { files: used, bytes, maxFiles: limits.maxSessionFiles, maxBytes: limits.maxSessionFilesBytes },
  };
}

export function readSessionFile(files: FileSystem, path: string): FileContent {
  const absolute = toPath(path);
  const stat = files.stat(absolute);
  if (stat === null) throw new Problem('not_found', `This session has no file ${absolute}.`);
  if (stat.kind === 'directory') return { directory: true };
  return { content: asProblem(() => files.read(absolute)), modifiedAt: new Date(stat.modifiedAt).toISOString() };
}

export async function writeSessionFile(
  files: FileSystem,
  path: string,
  content: Uint8Array,
  conditions: FileConditions = {},
): Promise<{ path: string; created: boolean }> {
  const absolute = toPath(path);
  await checkConditions(files, absolute, conditions);
  const created = files.stat(absolute) === null;
  // Files that a person uploads belong to the person: a tool needs approval to replace one.
  asProblem(() => files.write(absolute, content, { own: false }));
  return { path: absolute, created };
}

/** Deletes a file or an empty directory. */
export async function deleteSessionFile(files: FileSystem, path: string, conditions: FileConditions = {}): Promise<void> {
  const absolute = toPath(path);
  await checkConditions(files, absolute, conditions);
  asProblem(() => files.remove(absolute));
}

/** Checks the conditions. The result holds until the next `await`, so the caller makes its change right after it. */
async function checkConditions(files: FileSystem, path: string, { ifMatch, ifNoneMatch }: FileConditions): Promise<void> {
  const stat = files.stat(path);
  if (ifNoneMatch === true && stat !== null)
    throw new Problem('precondition_failed', `${path} already exists. To replace it, read it and send its ETag as If-Match.`);
  if (ifMatch === undefined) return;
  if (stat === null) throw new Problem('precondition_failed', `${path} does not exist. To create it, omit If-Match.`);
  if (ifMatch === '*') return;
  const known = stat.kind === 'file' ? files.read(path) : null;
  const tag = known === null ? null : await sha256HexOfBytes(known);
  // Hashing is asynchronous: another request may have written the file in the meantime.
  const now = files.stat(path)?.kind === 'file' ? files.read(path) : null;
  if (tag === null || !ifMatch.includes(tag) || now === null || !isSame(now, known))
    throw new Problem('precondition_failed', `${path} has changed since it was read. Read it again and send its new ETag.`);
}

function isSame(bytes: Uint8Array, others: Uint8Array | null): boolean {
  return others !== null && bytes.byteLength === others.byteLength && bytes.every((byte, index) => byte === others[index]);
}

function toPath(path: string): string {
  const resolved = resolvePath(path);
  if (!resolved.ok) throw invalidRequest([{ path: 'path', message: resolved.reason }], resolved.reason);
  return resolved.path;
}

/** Maps file system errors to problems of the request, since the path came with the request. */
function asProblem<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (error.code === 'ENOENT') throw new Problem('not_found', error.message);
    if (error.code === 'EFBIG') throw new Problem('body_too_large', error.message);
    throw new Problem('conflict', error.message);
  }
}
