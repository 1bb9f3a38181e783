/** Where files are kept, as their rules (`file-rules.ts`) see it: rows and bytes under resolved paths. */
import { permanentFolders } from '../core/path.ts';
import type { FileStat } from '../ports/file-system.ts';

export type FileRow = { path: string } & FileStat;

/** Keeps rows and bytes; decides nothing. `put` with content replaces the content, without it leaves the content alone. */
export interface FileStore {
  get(path: string): FileRow | undefined;
  put(row: FileRow, content?: Uint8Array): void;
  /** Adds bytes after `row.size - content.length` existing ones, none where there is no file yet, and stores the row. */
  append(row: FileRow, content: Uint8Array): void;
  content(path: string): Uint8Array;
  /** One row and its content. */
  remove(path: string): void;
  /** Direct children of a directory, in any order. */
  children(path: string): FileRow[];
  /** Everything beneath a directory, in any order, without the directory. */
  descendants(path: string): FileRow[];
  /** Re-keys one row and its content; nothing is at `to`. */
  move(from: string, to: string): void;
  paths(): string[];
  /** Files and directories, and bytes of content. */
  usage(): { files: number; bytes: number };
  /** Grows with every change: the same number twice means that nothing was changed in between. */
  changes(): number;
}

export function isPermanent(path: string): boolean {
  return permanentFolders.includes(path);
}
