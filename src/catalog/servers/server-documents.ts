/**
 * Inline OpenAPI documents, which are several times larger than a row allows: stored in chunks, with a hash in the server's document.
 * Written with the server, read with its operations (`ports/upstream.ts`).
 */
import { sha256Hex } from '../../core/hash.ts';
import { limits } from '../../core/limits.ts';
import { invalidRequest } from '../../core/problem.ts';
import type { OpenApiServer } from '../../core/servers/server.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { readText, writeText } from '../records/text-chunks.ts';

/** `kept`: replaces the text in the server's document. */
export type GivenDocument = { text: string; kept: KeptDocument };
/** `isText`: given as text; otherwise as JSON. */
type KeptDocument = { hash: string; isText: boolean };

/** Returns null if the server has no inline document. Throws if it is too large. */
export async function givenDocument({ document }: Pick<OpenApiServer, 'document'>): Promise<GivenDocument | null> {
  if (document === undefined) return null;
  // The tables store UTF-8, which cannot represent lone surrogates.
  const text = (typeof document === 'string' ? document : JSON.stringify(document)).toWellFormed();
  if (text === '') throw invalidRequest([{ path: 'document', message: 'is empty' }]);
  const bytes = utf8Length(text);
  if (bytes > limits.maxOpenApiBytes)
    throw invalidRequest([{ path: 'document', message: `has ${bytes} bytes; at most ${limits.maxOpenApiBytes}` }]);
  return { text, kept: { hash: await sha256Hex(text), isText: typeof document === 'string' } };
}

/** Call in a write's transaction. null: removes the document. */
export function storeDocument(sql: SqlStorage, server: string, text: string | null): void {
  sql.exec('DELETE FROM server_documents WHERE server = ?', server);
  writeText(sql, 'server_documents', { server }, text ?? '');
}

/** Returns null if no document is stored. */
export function readDocument(sql: SqlStorage, server: string): string | null {
  return readText(sql, 'server_documents', { server });
}

/** Returns a server's body as it was sent, with the document in place of its hash. */
export function withDocument(sql: SqlStorage, server: string, body: Record<string, unknown>): Record<string, unknown> {
  const { givenDocument: kept, ...rest } = body;
  const text = kept === undefined ? null : readDocument(sql, server);
  if (text === null) return rest;
  // Written by `storeDocument` together with this body.
  return { ...rest, document: (kept as KeptDocument).isText ? text : JSON.parse(text) };
}
