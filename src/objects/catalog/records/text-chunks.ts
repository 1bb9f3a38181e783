/**
 * Texts that are longer than an SQLite value can be, as UTF-8 in chunks: tables with the columns of a key, `sequence` and `data`. An empty
 * text has no chunks.
 */
import { limits } from '../../../core/limits/limits.ts';

type ChunkTable = 'edition_chunks' | 'server_documents' | 'server_offers' | 'callback_bodies' | 'delivery_parts';
type Key = Readonly<Record<string, string | number>>;

/** `text`: may be encoded already. Returns the number of bytes. Call in a transaction; a previous text must be deleted before. */
export function writeText(sql: SqlStorage, table: ChunkTable, key: Key, text: string | Uint8Array): number {
  const names = Object.keys(key);
  const statement = `INSERT INTO ${table} (${names.join(', ')}, sequence, data) VALUES (${names.map(() => '?').join(', ')}, ?, ?)`;
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  for (let sequence = 0, start = 0; start < bytes.byteLength; sequence += 1, start += limits.storageChunkBytes)
    sql.exec(statement, ...Object.values(key), sequence, bytes.slice(start, start + limits.storageChunkBytes));
  return bytes.byteLength;
}

/** Returns null if there are no chunks. */
export function readText(sql: SqlStorage, table: ChunkTable, key: Key): string | null {
  const condition = Object.keys(key).map((name) => `${name} = ?`);
  const query = `SELECT data FROM ${table} WHERE ${condition.join(' AND ')} ORDER BY sequence`;
  const chunks = sql.exec<{ data: ArrayBuffer }>(query, ...Object.values(key)).toArray();
  if (chunks.length === 0) return null;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return chunks.map(({ data }) => decoder.decode(data, { stream: true })).join('') + decoder.decode();
}
