/** Scratch files in memory, for calls without a session and for tests. Gone after the call. */
import { joinBytes } from '../../core/text/bytes.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { createFileSystem } from './file-rules.ts';
import { createPathTree, type FileRow, type FileStore } from './file-store.ts';

/** Creates an empty file system; `now` gives the modification times. */
export function createMemoryFiles(now: () => number = Date.now): FileSystem {
  return createFileSystem(memoryStore(), now);
}

/** Content in pieces, joined on the first read, so that a loop of appends stays linear. */
type Entry = { row: FileRow; pieces: Uint8Array[] };

function memoryStore(): FileStore {
  const entries = new Map<string, Entry>();
  const tree = createPathTree();
  let bytes = 0;
  let changes = 0;

  function store(entry: Entry): void {
    changes += 1;
    const { path } = entry.row;
    bytes += entry.row.size - (entries.get(path)?.row.size ?? 0);
    entries.set(path, entry);
    tree.add(path);
  }

  function forget(path: string): Entry | undefined {
    changes += 1;
    const entry = entries.get(path);
    bytes -= entry?.row.size ?? 0;
    entries.delete(path);
    tree.remove(path);
    return entry;
  }

  const rowsAt = (paths: readonly string[]): FileRow[] => paths.flatMap((path) => entries.get(path)?.row ?? []);

  return {
    get: (path) => entries.get(path)?.row,
    put: (row, content) => store({ row, pieces: content === undefined ? (entries.get(row.path)?.pieces ?? []) : [content.slice()] }),
    append(row, content) {
      const pieces = entries.get(row.path)?.pieces ?? [];
      pieces.push(content.slice());
      store({ row, pieces });
    },
    content(path) {
      const entry = entries.get(path);
      if (entry === undefined) return new Uint8Array();
      if (entry.pieces.length > 1) entry.pieces = [joinBytes(entry.pieces)];
      return (entry.pieces[0] ?? new Uint8Array()).slice();
    },
    remove: (path) => void forget(path),
    children: (path) => rowsAt(tree.children(path)),
    descendants: (path) => rowsAt(tree.descendants(path)),
    move(from, to) {
      const entry = forget(from);
      if (entry !== undefined) store({ row: { ...entry.row, path: to }, pieces: entry.pieces });
    },
    paths: () => [...entries.keys()],
    usage: () => ({ files: entries.size, bytes }),
    changes: () => changes,
  };
}
