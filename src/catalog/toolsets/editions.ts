/** Compiled editions by hash, in chunks that fit into an SQLite value. Written once, never changed. */
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';

/** Call in a write's transaction. Storing an edition twice has no effect. */
export function storeEdition(sql: SqlStorage, hash: string, text: string): void {
  if (sql.exec('SELECT 1 FROM editions WHERE hash = ?', hash).toArray().length > 0) return;
  const bytes = new TextEncoder().encode(text);
  sql.exec('INSERT INTO editions (hash, bytes, published_at) VALUES (?, ?, NULL)', hash, bytes.byteLength);
  for (let sequence = 0; sequence * limits.storageChunkBytes < bytes.byteLength; sequence++) {
    const start = sequence * limits.storageChunkBytes;
    const piece = bytes.slice(start, start + limits.storageChunkBytes);
    sql.exec('INSERT INTO edition_chunks (hash, sequence, data) VALUES (?, ?, ?)', hash, sequence, piece);
  }
}

/** Returns the edition's text unchanged, or throws `not_found`. */
export function readEditionText(sql: SqlStorage, hash: string): string {
  const decoder = new TextDecoder();
  let text = '';
  for (const { data } of sql.exec<{ data: ArrayBuffer }>('SELECT data FROM edition_chunks WHERE hash = ? ORDER BY sequence', hash)) {
    text += decoder.decode(data, { stream: true });
  }
  text += decoder.decode();
  if (text === '') throw new Problem('not_found', 'The edition does not exist.');
  return text;
}

/** Returns when the edition was written to KV; null: not yet. */
export function editionPublishedAt(sql: SqlStorage, hash: string): number | null {
  return (
    sql.exec<{ published_at: number | null }>('SELECT published_at FROM editions WHERE hash = ?', hash).toArray()[0]?.published_at ?? null
  );
}

/** `at` null: the edition is missing in KV. */
export function markEditionPublished(sql: SqlStorage, hash: string, at: number | null): void {
  sql.exec('UPDATE editions SET published_at = ? WHERE hash = ?', at, hash);
}

/** Call in a write's transaction, when no version uses the edition any more. KV keeps its copy. */
export function forgetEdition(sql: SqlStorage, hash: string): void {
  sql.exec('DELETE FROM editions WHERE hash = ?', hash);
  sql.exec('DELETE FROM edition_chunks WHERE hash = ?', hash);
}
