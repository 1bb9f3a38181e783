/**
 * The files of one session, or scratch files of one call. Paths are absolute and already resolved by segments
 * (`core/path.ts`). There are no links. Errors are `FileError`s with POSIX codes. Implementations share
 * `test/contracts/file-system.ts`.
 */
/**
 * `own`: the content is the session's: one of its tools wrote it. Not own: the caller put it there, or nobody knows. Of directories it says nothing.
 * `fresh`: of an overlay: it was made since the overlay was begun.
 */
export type FileStat = { kind: 'file' | 'directory'; size: number; modifiedAt: number; mode: number; own: boolean; fresh?: true };
export type DirectoryEntry = { name: string; kind: 'file' | 'directory'; size: number; modifiedAt: number };

export type FileErrorCode = 'ENOENT' | 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY' | 'EEXIST' | 'EFBIG' | 'ENOSPC' | 'EINVAL' | 'EPERM' | 'EROFS';

/** `message` is a sentence for the model, path included. */
export class FileError extends Error {
  override name = 'FileError';
  readonly code: FileErrorCode;
  readonly path: string;
  constructor(code: FileErrorCode, path: string, message: string) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/** Synchronous on purpose: both homes (SQLite in a Durable Object, memory) are, and a call's effects stay in one step. */
export interface FileSystem {
  /** True where every write is refused with EROFS, whoever allows it. Absent: nowhere. */
  isReadOnly?(path: string): boolean;
  stat(path: string): FileStat | null;
  read(path: string): Uint8Array;
  /**
   * Creates missing parent directories. Replaces the whole content; an existing file keeps its mode unless one is given. The file is the session's own
   * then, unless it is said to be the caller's, or the bytes were the same before.
   */
  write(path: string, content: Uint8Array, options?: { mode?: number; modifiedAt?: number; own?: boolean }): void;
  /** Like `write`, but adds at the end; costs what is added, not what is there. Whose the file was, it stays. */
  append(path: string, content: Uint8Array): void;
  makeDirectory(path: string, options?: { recursive?: boolean }): void;
  /** Direct children, sorted by name (UTF-16 code units). */
  list(path: string): DirectoryEntry[];
  /** A directory needs `recursive` unless empty. Missing: ENOENT. `/`, `/workspace` and `/tmp` stay: with `recursive` they are emptied, else EPERM. */
  remove(path: string, options?: { recursive?: boolean }): void;
  /** Replaces a file, or an empty directory by a directory. The parent of `to` must exist. Whose the files were, they stay. */
  rename(from: string, to: string): void;
  setMode(path: string, mode: number): void;
  setModifiedAt(path: string, modifiedAt: number): void;
  /** Files and directories, and bytes, of all that is stored. Absent: not known here. */
  usage?(): { files: number; bytes: number };
  /** Every path, for globbing, sorted. */
  paths(): string[];
  /** These files to work on: nothing that is changed there is changed here before `commit`. */
  overlay(): FileOverlay;
}

/** Holds at most `limits.maxOverlayBytes` of new content (ENOSPC). Dropped without `commit`, nothing has happened. */
export interface FileOverlay extends FileSystem {
  /**
   * Does all of it in one step, or throws a `FileError` and has done nothing: somebody else changed files meanwhile in a way
   * that does not go together. At most once.
   */
  commit(): void;
}
