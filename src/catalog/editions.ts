/** Compiled editions by their hash, in pieces that SQLite takes. Written once, never changed. */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';

/** Part of a write's transaction. Storing one again does nothing. */
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

/** The edition's text as it was stored; `not_found`. */
export function readEditionText(sql: SqlStorage, hash: string): string {
  const decoder = new TextDecoder();
  let text = '';
  for (const { data } of sql.exec<{ data: ArrayBuffer }>('SELECT data FROM edition_chunks WHERE hash = ? ORDER BY sequence', hash)) {
    text += decoder.decode(data, { stream: true });
  }
  text += decoder.decode();
  if (text === '') throw new Problem('not_found', 'There is no such edition.');
  return text;
}

/** When KV was given it; null when it has yet to be. */
export function editionPublishedAt(sql: SqlStorage, hash: string): number | null {
  return (
    sql.exec<{ published_at: number | null }>('SELECT published_at FROM editions WHERE hash = ?', hash).toArray()[0]?.published_at ?? null
  );
}

/** null: KV was seen without it. */
export function markEditionPublished(sql: SqlStorage, hash: string, at: number | null): void {
  sql.exec('UPDATE editions SET published_at = ? WHERE hash = ?', at, hash);
}

/** Part of a write's transaction: no version has it any more. What KV has of it stays there. */
export function forgetEdition(sql: SqlStorage, hash: string): void {
  sql.exec('DELETE FROM editions WHERE hash = ?', hash);
  sql.exec('DELETE FROM edition_chunks WHERE hash = ?', hash);
}
