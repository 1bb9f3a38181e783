/** Compiled editions by hash, in chunks. Written once, never changed. */
import { Problem } from '../../../core/problem.ts';
import { overwrite } from '../records/close-database.ts';
import { readText, writeText } from '../records/text-chunks.ts';

/** Call in a write's transaction. Storing an edition twice has no effect. */
export function storeEdition(sql: SqlStorage, hash: string, text: string): void {
  if (sql.exec('SELECT 1 FROM editions WHERE hash = ?', hash).toArray().length > 0) return;
  const bytes = writeText(sql, 'edition_chunks', { hash }, text);
  sql.exec('INSERT INTO editions (hash, bytes, published_at) VALUES (?, ?, NULL)', hash, bytes);
}

/** Returns the edition's text unchanged, or throws `not_found`. */
export function readEditionText(sql: SqlStorage, hash: string): string {
  const text = readText(sql, 'edition_chunks', { hash });
  if (text === null) throw new Problem('not_found', 'The edition does not exist.');
  return text;
}

/** Returns when the edition was written to KV; null: not yet. */
export function editionPublishedAt(sql: SqlStorage, hash: string): number | null {
  const query = 'SELECT published_at FROM editions WHERE hash = ?';
  return sql.exec<{ published_at: number | null }>(query, hash).toArray()[0]?.published_at ?? null;
}

/** `at` null: the edition is missing in KV. */
export function markEditionPublished(sql: SqlStorage, hash: string, at: number | null): void {
  sql.exec('UPDATE editions SET published_at = ? WHERE hash = ?', at, hash);
}

/** Call in a write's transaction, when no version has the edition: the next sweep deletes it, first in KV. */
export function discardEdition(sql: SqlStorage, hash: string): void {
  sql.exec('UPDATE editions SET unused_since = 0 WHERE hash = ?', hash);
}

/** Deletes an edition that no version has. KV must not have it any more. */
export function forgetEdition(sql: SqlStorage, hash: string): void {
  overwrite(sql, 'edition_chunks', 'data', 'hash = ?', hash);
  sql.exec('DELETE FROM editions WHERE hash = ?', hash);
  sql.exec('DELETE FROM edition_chunks WHERE hash = ?', hash);
}
