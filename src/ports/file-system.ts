/**
 * The files of one session, or scratch files of one call. Paths are absolute and already resolved by segments
 * (`core/path.ts`). Errors are `FileError`s with POSIX codes. Implementations share `test/contracts/file-system.ts`.
 */
export type FileStat = { kind: 'file' | 'directory'; size: number; modifiedAt: number; mode: number };
export type DirectoryEntry = { name: string; kind: 'file' | 'directory'; size: number; modifiedAt: number };

export type FileErrorCode = 'ENOENT' | 'EISDIR' | 'ENOTDIR' | 'ENOTEMPTY' | 'EEXIST' | 'EFBIG' | 'ENOSPC' | 'EINVAL' | 'EPERM';

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
  stat(path: string): FileStat | null;
  read(path: string): Uint8Array;
  /** Creates missing parent directories. Replaces the whole content. */
  write(path: string, content: Uint8Array, options?: { mode?: number; modifiedAt?: number }): void;
  makeDirectory(path: string, options?: { recursive?: boolean }): void;
  /** Direct children, sorted by name. */
  list(path: string): DirectoryEntry[];
  /** A directory needs `recursive` unless empty. Missing: ENOENT. */
  remove(path: string, options?: { recursive?: boolean }): void;
  rename(from: string, to: string): void;
  setMode(path: string, mode: number): void;
  setModifiedAt(path: string, modifiedAt: number): void;
  /** Every path, for globbing, sorted. */
  paths(): string[];
}
