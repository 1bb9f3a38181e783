/**
 * The files of one session, or scratch files of one call. Paths are absolute and already resolved by segments (`core/text/path.ts`). There are no
 * links. Errors are `FileError`s with POSIX codes. All implementations pass `test/contracts/file-system.ts`.
 */
/**
 * `own`: a tool of the session wrote the content. Otherwise the caller stored it, or its origin is unknown. Has no meaning for directories.
 * `fresh`: created in this overlay.
 */
export type FileStat = { kind: 'file' | 'directory'; size: number; modifiedAt: number; mode: number; own: boolean; fresh?: true };
export type DirectoryEntry = { name: string; kind: 'file' | 'directory'; size: number; modifiedAt: number };

export type FileErrorCode = 'ENOENT' | 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY' | 'EEXIST' | 'EFBIG' | 'ENOSPC' | 'EINVAL' | 'EPERM' | 'EROFS';

/** `message` is a sentence for the model, including the path. */
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

/** Synchronous, as both implementations are (SQLite in a Durable Object, memory), so that a call's effects happen in one step. */
export interface FileSystem {
  /** Whether every write to this path fails with EROFS, even if approved. Absent: no path is read-only. */
  isReadOnly?(path: string): boolean;
  stat(path: string): FileStat | null;
  read(path: string): Uint8Array;
  /**
   * Creates missing parent directories. Replaces the whole content; an existing file keeps its mode unless one is given. The file becomes the
   * session's own unless `own` is false or the content is unchanged.
   */
  write(path: string, content: Uint8Array, options?: { mode?: number; modifiedAt?: number; own?: boolean }): void;
  /** Appends to a file; the cost depends on what is added only. `own` is unchanged. */
  append(path: string, content: Uint8Array): void;
  makeDirectory(path: string, options?: { recursive?: boolean }): void;
  /** Direct children, sorted by name (UTF-16 code units). */
  list(path: string): DirectoryEntry[];
  /** Removes a directory only if `recursive` is set or it is empty. Missing path: ENOENT. `/`, `/workspace` and `/tmp` remain: with `recursive` they are emptied, otherwise EPERM. */
  remove(path: string, options?: { recursive?: boolean }): void;
  /** Replaces a file, or an empty directory by a directory. The parent of `to` must exist. `own` is unchanged. */
  rename(from: string, to: string): void;
  setMode(path: string, mode: number): void;
  setModifiedAt(path: string, modifiedAt: number): void;
  /** Returns the number of files and directories, and their bytes. Absent: unknown. */
  usage?(): { files: number; bytes: number };
  /** Returns every path, sorted, for globbing. */
  paths(): string[];
  /** Returns an overlay: changes to it do not change these files before `commit`. */
  overlay(): FileOverlay;
}

/** Holds at most `limits.maxOverlayBytes` of new content (ENOSPC). Without `commit` its changes are discarded. */
export interface FileOverlay extends FileSystem {
  /**
   * Applies all changes in one step, or throws a `FileError` and applies none, if the files were changed meanwhile in a conflicting way. May be
   * called once.
   */
  commit(): void;
}
