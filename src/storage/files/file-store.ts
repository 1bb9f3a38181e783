/** The storage interface of files, below their rules (`file-rules.ts`): rows and bytes by resolved path. */
import { parentPath, permanentFolders } from '../../core/text/path.ts';
import type { FileStat } from '../../ports/file-system.ts';

export type FileRow = { path: string } & FileStat;

/** Stores rows and bytes without checks. `put` with content replaces the content; without content it leaves it unchanged. */
export interface FileStore {
  get(path: string): FileRow | undefined;
  put(row: FileRow, content?: Uint8Array): void;
  /** Adds bytes after the existing `row.size - content.length` bytes (none for a new file), and stores the row. */
  append(row: FileRow, content: Uint8Array): void;
  content(path: string): Uint8Array;
  /** Removes one row and its content. */
  remove(path: string): void;
  /** Returns the direct children of a directory, in any order. */
  children(path: string): FileRow[];
  /** Returns everything inside a directory, in any order, without the directory itself. */
  descendants(path: string): FileRow[];
  /** Changes the path of one row and its content; `to` must not exist. */
  move(from: string, to: string): void;
  paths(): string[];
  /** Returns the number of files and directories, and the bytes of their content. */
  usage(): { files: number; bytes: number };
  /** Returns a counter that grows with every change. */
  changes(): number;
}

export function isPermanentFolder(path: string): boolean {
  return permanentFolders.includes(path);
}

/** Indexes the paths of a store by directory, including intermediate directories, so that descendants are found without a scan. */
export function createPathTree() {
  const byDirectory = new Map<string, Set<string>>();
  const children = (path: string): string[] => [...(byDirectory.get(path) ?? [])];
  return {
    add(path: string): void {
      for (let child = path; child !== '/'; child = parentPath(child)) {
        const siblings = byDirectory.get(parentPath(child));
        if (siblings?.has(child) === true) return;
        if (siblings === undefined) byDirectory.set(parentPath(child), new Set([child]));
        else siblings.add(child);
      }
    },
    remove(path: string): void {
      byDirectory.get(parentPath(path))?.delete(path);
    },
    children,
    descendants(path: string): string[] {
      const found: string[] = [];
      const pending = children(path);
      for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
        found.push(child);
        pending.push(...children(child));
      }
      return found;
    },
  };
}
