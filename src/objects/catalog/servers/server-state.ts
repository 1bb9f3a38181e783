/**
 * What is stored of a server beside its document and tools: a health row for each server that lists its tools itself
 * (`core/servers/refresh-state.ts`; a `static` server has none, since it receives only calls), and inline OpenAPI documents, with a hash in
 * the server's document. Also reads a server as calls and listings need it.
 */
import { sha256Hex } from '../../../core/hash.ts';
import { limits } from '../../../core/limits/limits.ts';
import { invalidRequest } from '../../../core/problem.ts';
import { utf8Length } from '../../../core/text/utf8.ts';
import type { RefreshState } from '../../../core/servers/refresh-state.ts';
import { toServerAccess, type OpenApiServer, type ServerAccess, type CompleteServer } from '../../../core/servers/server.ts';
import type { CatalogContext } from '../context.ts';
import { type DocumentRow, findRow, requireRow } from '../documents/documents.ts';
import { overwrite } from '../records/close-database.ts';
import { parsedServer } from './server-definitions.ts';
import { hasGrant } from './server-grants.ts';
import { readText, writeText } from '../records/text-chunks.ts';

export function readServerState(sql: SqlStorage, server: string): RefreshState | null {
  return readServerStates(sql, [server]).get(server) ?? null;
}

export function readServerStates(sql: SqlStorage, servers: readonly string[]): Map<string, RefreshState> {
  return toStates(
    sql.exec<StateRow>('SELECT * FROM server_state WHERE server IN (SELECT value FROM json_each(?))', JSON.stringify(servers)),
  );
}

export function allServerStates(sql: SqlStorage): Map<string, RefreshState> {
  return toStates(sql.exec<StateRow>('SELECT * FROM server_state'));
}

type StateRow = { server: string; state: string };

/** Written by `writeServerState` only. */
function toStates(rows: Iterable<StateRow>): Map<string, RefreshState> {
  return new Map([...rows].map(({ server, state }) => [server, JSON.parse(state) as RefreshState]));
}

export function writeServerState(sql: SqlStorage, server: string, state: RefreshState): void {
  sql.exec('INSERT OR REPLACE INTO server_state (server, state) VALUES (?, ?)', server, JSON.stringify(state));
}

export function deleteServerState(sql: SqlStorage, server: string): void {
  sql.exec('DELETE FROM server_state WHERE server = ?', server);
}

/** Throws `not_found`. */
export function readServerAccess(context: CatalogContext, name: string): ServerAccess {
  return accessOf(context, requireRow(context.sql, 'server', name));
}

export function findServerAccess(context: CatalogContext, name: string): ServerAccess | null {
  const row = findRow(context.sql, 'server', name);
  return row === null ? null : accessOf(context, row);
}

/** Server bodies were parsed by the schema when they were written. */
function accessOf(context: CatalogContext, { name, body, version }: DocumentRow): ServerAccess {
  const { connection = null, staleAt = null, offersSignIn = false } = readServerState(context.sql, name) ?? {};
  const { ready, held, annotated } = parsedServer(context, name);
  return toServerAccess(
    name,
    body as CompleteServer,
    { ready, held, annotated, version, connection, staleAt },
    offersSignIn || hasGrant(context.sql, name),
  );
}

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
  overwrite(sql, 'server_documents', 'data', 'server = ?', server);
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
