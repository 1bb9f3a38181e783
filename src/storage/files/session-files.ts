/**
 * A session's files in its Durable Object's SQLite. `files` has one row per path (`parent` is indexed, so that listing costs only what
 * it lists); `file_chunks` has the bytes in chunks of at most `limits.storageChunkBytes`. Calls are synchronous and touch nothing else,
 * so a call's writes are one transaction of the object.
 */
import { joinBytes } from '../../core/text/bytes.ts';
import { limits } from '../../core/limits/limits.ts';
import { parentPath } from '../../core/text/path.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { createFileSystem } from './file-rules.ts';
import type { FileRow, FileStore } from './file-store.ts';
import { KB } from '../../core/limits/units.ts';

/** A shorter append is merged into the last chunk, so that a loop of appends creates neither rows nor copies. */
const appendMergeBytes = 4 * KB;

/** For schemas (`objects/shared/migrate.ts`). `own`: a tool wrote the file, not the client. */
export const sessionFilesSchema = `
  CREATE TABLE files (path TEXT PRIMARY KEY, parent TEXT!, kind TEXT!, size INTEGER!, mode INTEGER!, modified_at INTEGER!, own INTEGER!) WITHOUT ROWID;
  CREATE INDEX files_by_parent ON files (parent);
  CREATE TABLE file_chunks (path TEXT!, seq INTEGER!, bytes BLOB!, PRIMARY KEY (path, seq));
`;

/** Creates the file system. Its tables must exist. Use one instance per object: it caches the usage. */
export function createSessionFiles(sql: SqlStorage, now: () => number = Date.now): FileSystem {
  return createFileSystem(sqlStore(sql), now);
}

type Row = { path: string; kind: string; size: number; mode: number; modified_at: number; own: number };

function sqlStore(sql: SqlStorage): FileStore {
  // Counting is a scan, and a script may write thousands of files, so the usage is counted once and then updated.
  let used: { files: number; bytes: number } | null = null;
  let changes = 0;
  const usage = (): { files: number; bytes: number } => {
    const query = 'SELECT count(*) AS files, sum(size) AS bytes FROM files HAVING count(*) > 0';
    used ??= sql.exec<{ files: number; bytes: number }>(query).toArray()[0] ?? { files: 0, bytes: 0 };
    return used;
  };

  const rows = (query: string, ...values: string[]): FileRow[] =>
    sql
      .exec<Row>(query, ...values)
      .toArray()
      .map(toFileRow);
  const get = (path: string): FileRow | undefined =>
    rows('SELECT path, kind, size, mode, modified_at, own FROM files WHERE path = ?', path)[0];

  function putRow(row: FileRow): void {
    changes += 1;
    const before = get(row.path);
    const sums = usage();
    const { path, kind, size, mode, modifiedAt, own } = row;
    const statement = 'INSERT OR REPLACE INTO files (path, parent, kind, size, mode, modified_at, own) VALUES (?, ?, ?, ?, ?, ?, ?)';
    sql.exec(statement, path, parentPath(path), kind, size, mode, modifiedAt, own ? 1 : 0);
    used = { files: sums.files + (before === undefined ? 1 : 0), bytes: sums.bytes + row.size - (before?.size ?? 0) };
  }

  function putChunks(path: string, from: number, content: Uint8Array): void {
    const statement = 'INSERT OR REPLACE INTO file_chunks (path, seq, bytes) VALUES (?, ?, ?)';
    for (let offset = 0, seq = from; offset < content.byteLength; offset += limits.storageChunkBytes, seq += 1)
      sql.exec(statement, path, seq, content.slice(offset, offset + limits.storageChunkBytes));
  }

  return {
    get,
    put(row, content) {
      if (content !== undefined) {
        sql.exec('DELETE FROM file_chunks WHERE path = ?', row.path);
        putChunks(row.path, 0, content);
      }
      putRow(row);
    },
    append(row, content) {
      const query = 'SELECT seq, length(bytes) AS length FROM file_chunks WHERE path = ? ORDER BY seq DESC LIMIT 1';
      const last = sql.exec<{ seq: number; length: number }>(query, row.path).toArray()[0];
      if (last !== undefined && last.length + content.byteLength <= appendMergeBytes) {
        const query = 'SELECT bytes FROM file_chunks WHERE path = ? AND seq = ?';
        const { bytes } = sql.exec<{ bytes: ArrayBuffer }>(query, row.path, last.seq).one();
        putChunks(row.path, last.seq, joinBytes([bytes, content]));
      } else {
        putChunks(row.path, last === undefined ? 0 : last.seq + 1, content);
      }
      putRow(row);
    },
    content(path) {
      const chunks = sql.exec<{ bytes: ArrayBuffer }>('SELECT bytes FROM file_chunks WHERE path = ? ORDER BY seq', path).toArray();
      return joinBytes(chunks.map((chunk) => chunk.bytes));
    },
    remove(path) {
      changes += 1;
      const row = get(path);
      const sums = usage();
      sql.exec('DELETE FROM file_chunks WHERE path = ?', path);
      sql.exec('DELETE FROM files WHERE path = ?', path);
      if (row !== undefined) used = { files: sums.files - 1, bytes: sums.bytes - row.size };
    },
    // `/` is not a child of itself; it has no row, because it always exists.
    children: (path) => rows('SELECT path, kind, size, mode, modified_at, own FROM files WHERE parent = ?', path),
    // All paths inside `a` sort between `a/` and `a0`, since `0` is the character after `/`. All paths begin with `/`.
    descendants: (path) => {
      const prefix = path === '/' ? '' : path;
      return rows('SELECT path, kind, size, mode, modified_at, own FROM files WHERE path > ? AND path < ?', `${prefix}/`, `${prefix}0`);
    },
    move(from, to) {
      changes += 1;
      sql.exec('UPDATE files SET path = ?, parent = ? WHERE path = ?', to, parentPath(to), from);
      sql.exec('UPDATE file_chunks SET path = ? WHERE path = ?', to, from);
    },
    paths: () =>
      sql
        .exec<{ path: string }>('SELECT path FROM files')
        .toArray()
        .map((row) => row.path),
    usage,
    changes: () => changes,
  };
}

function toFileRow(row: Row): FileRow {
  const kind = row.kind === 'file' ? 'file' : 'directory';
  return { path: row.path, kind, size: row.size, mode: row.mode, modifiedAt: row.modified_at, own: row.own === 1 };
}
