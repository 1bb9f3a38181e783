/** A session's files for its owner over HTTP: paths resolved, faults of the file system as problems of the request. */
import { limits } from '../core/limits.ts';
import { resolvePath } from '../core/path.ts';
import { invalidRequest, Problem } from '../core/problem.ts';
import { FileError, type FileSystem } from '../ports/file-system.ts';

export type FileListing = {
  path: string;
  entries: { name: string; kind: string; size: number; modifiedAt: string }[];
  /** Of the whole session, and what it may come to. */
  usage: { files: number; bytes: number; maxFiles: number; maxBytes: number };
};
export type FileContent = { content: Uint8Array; modifiedAt: string } | { directory: true };

/** `path` is relative to `/workspace` unless it begins with `/`. */
export function listFiles(files: FileSystem, path: string): FileListing {
  const absolute = toPath(path);
  const entries = asProblem(() => files.list(absolute));
  const { files: used, bytes } = files.usage?.() ?? { files: 0, bytes: 0 };
  return {
    path: absolute,
    entries: entries.map((entry) => ({ ...entry, modifiedAt: new Date(entry.modifiedAt).toISOString() })),
    usage: { files: used, bytes, maxFiles: limits.maxSessionFiles, maxBytes: limits.maxSessionFilesBytes },
  };
}

export function readFile(files: FileSystem, path: string): FileContent {
  const absolute = toPath(path);
  const stat = files.stat(absolute);
  if (stat === null) throw new Problem('not_found', `There is no file ${absolute} in this session.`);
  if (stat.kind === 'directory') return { directory: true };
  return { content: asProblem(() => files.read(absolute)), modifiedAt: new Date(stat.modifiedAt).toISOString() };
}

export function writeFile(files: FileSystem, path: string, content: Uint8Array): { path: string; created: boolean } {
  const absolute = toPath(path);
  const created = files.stat(absolute) === null;
  // What a person put there is theirs: a tool asks before it replaces it.
  asProblem(() => files.write(absolute, content, { own: false }));
  return { path: absolute, created };
}

/** A directory must be empty. */
export function deleteFile(files: FileSystem, path: string): void {
  const absolute = toPath(path);
  asProblem(() => files.remove(absolute));
}

function toPath(path: string): string {
  const resolved = resolvePath(path);
  if (!resolved.ok) throw invalidRequest([{ path: 'path', message: resolved.reason }], resolved.reason);
  return resolved.path;
}

/** The path came with the request, so what it runs into is the caller's. */
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
