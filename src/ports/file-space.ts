/**
 * The files of MCP calls that run outside of a session's object: loaded before a call and stored after it. `engine/mcp/call-files.ts` uses
 * it; the objects that have the files implement it.
 */
import type { FileStat, FileSystem } from './file-system.ts';

/** A file or directory with its content. */
export type StoredFile = { path: string; stat: FileStat; content: Uint8Array };

/** `file` null: the path was removed. In an order in which they can be applied. */
export type FileChange = { path: string; file: StoredFile | null };

export interface FileSpace {
  /** Returns a copy of the files; `save` stores what was changed in it. Throws `body_too_large` if the files are too large to be copied. */
  open(): Promise<{ files: FileSystem; save(): Promise<void> }>;
}

/** `key`: the files of the key's calls with one toolset, or with none. `named`: of the caller's name for them. `session`: of a session. */
export type FileSpaceName =
  | { kind: 'key'; toolset: string | null }
  | { kind: 'named'; name: string }
  | { kind: 'session'; session: string };
