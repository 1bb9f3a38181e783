/**
 * OpenAPI documents that were given whole: several times what a row takes, so they are kept in pieces beside the server's document, which
 * has a hash in their place. Written with the server, read when its operations are (`ports/upstream.ts`).
 */
import { sha256Hex } from '../core/hash.ts';
import { limits } from '../core/limits.ts';
import { invalidRequest } from '../core/problem.ts';
import type { OpenApiServer } from '../core/servers/server.ts';
import { utf8Length } from '../core/utf8.ts';
import { fromPieces, toPieces } from './text-pieces.ts';

/** `kept`: what the server's document has in its place. */
export type GivenDocument = { text: string; kept: KeptDocument };
/** `isText`: it was given as a text; else as JSON. */
type KeptDocument = { hash: string; isText: boolean };

/** null: the server has its document elsewhere. Throws for one that is too large. */
export async function givenDocument({ document }: Pick<OpenApiServer, 'document'>): Promise<GivenDocument | null> {
  if (document === undefined) return null;
  // What the tables keep is UTF-8, which has no halves of characters.
  const text = (typeof document === 'string' ? document : JSON.stringify(document)).toWellFormed();
  if (text === '') throw invalidRequest([{ path: 'document', message: 'is empty' }]);
  const bytes = utf8Length(text);
  if (bytes > limits.maxOpenApiBytes)
    throw invalidRequest([{ path: 'document', message: `has ${bytes} bytes; at most ${limits.maxOpenApiBytes}` }]);
  return { text, kept: { hash: await sha256Hex(text), isText: typeof document === 'string' } };
}

/** Part of a write's transaction; null: it has none any more. */
export function storeDocument(sql: SqlStorage, server: string, text: string | null): void {
  sql.exec('DELETE FROM server_documents WHERE server = ?', server);
  for (const [sequence, piece] of toPieces(text ?? '').entries())
    sql.exec('INSERT INTO server_documents (server, sequence, data) VALUES (?, ?, ?)', server, sequence, piece);
}

/** null: none was given whole. */
export function readDocument(sql: SqlStorage, server: string): string | null {
  const query = 'SELECT data FROM server_documents WHERE server = ? ORDER BY sequence';
  const pieces = sql.exec<{ data: ArrayBuffer }>(query, server).toArray();
  return fromPieces(pieces.map(({ data }) => data));
}

/** A server's body as it was sent: with the document for what stands in its place. */
export function withDocument(sql: SqlStorage, server: string, body: Record<string, unknown>): Record<string, unknown> {
  const { givenDocument: kept, ...rest } = body;
  const text = kept === undefined ? null : readDocument(sql, server);
  if (text === null) return rest;
  // Written by `storeDocument` with the body it belongs to.
  return { ...rest, document: (kept as KeptDocument).isText ? text : JSON.parse(text) };
}
