/**
 * The sign-ins of users and keys at servers with `oauth.per: "user"`. Sealed for the server and the key; `mcp/oauth/` defines the content.
 * A row exists from the first sign-in until it is ended here, or its key, its server or the server's URL or client is gone.
 */
import { limits } from '../../../core/limits/limits.ts';
import { Problem } from '../../../core/problem.ts';
import type { ConnectedUser, Page, PageRequest, ServerGrant } from '../../../ports/catalog.ts';
import { openValue, sealValue } from '../../../storage/keys/secret-box.ts';
import type { CatalogContext } from '../context.ts';
import { isoTime } from '../documents/documents.ts';
import { recordChange } from '../records/audit.ts';
import { overwrite, requestClose } from '../records/close-database.ts';

export async function readConnection(context: CatalogContext, server: string, keyId: string): Promise<ServerGrant> {
  const row = findRow(context.sql, server, keyId);
  if (row === null) return { value: null, revision: 0 };
  return { value: await openValue(context.master, placeOf(context, server, keyId), row.sealed), revision: row.revision };
}

/** Returns false if another write happened since `revision`. `grant.value` null: ends the connection. */
export async function saveConnection(
  context: CatalogContext,
  { server, keyId, grant, by }: { server: string; keyId: string; grant: ServerGrant; by: string },
): Promise<boolean> {
  const { value, revision, isConnected = false } = grant;
  const { sql } = context;
  const sealed = value === null ? null : await sealValue(context.master, placeOf(context, server, keyId), value);
  return context.transact(() => {
    const before = findRow(sql, server, keyId);
    if ((before?.revision ?? 0) !== revision) return false;
    if (before === null && sealed !== null) requireSpace(context);
    const wasConnected = before?.connected_at != null;
    // Refreshing tokens does not count as a configuration change.
    if (wasConnected !== isConnected)
      recordChange(context, { by, action: isConnected ? 'sign-in' : 'sign-out', resource: 'server', name: server });
    if (before !== null) erase(sql, server, keyId);
    if (sealed === null) {
      sql.exec('DELETE FROM connections WHERE server = ? AND key_id = ?', server, keyId);
      return true;
    }
    const now = context.now();
    const connectedAt = isConnected ? (before?.connected_at ?? now) : null;
    const insert = 'INSERT OR REPLACE INTO connections (server, key_id, sealed, revision, connected_at) VALUES (?, ?, ?, ?, ?)';
    sql.exec(insert, server, keyId, sealed, before === null ? now : revision + 1, connectedAt);
    return true;
  });
}

/** Sorted by key. */
export function listConnections({ sql }: CatalogContext, server: string, { cursor = '', limit }: PageRequest): Page<ConnectedUser> {
  const query = `SELECT key_id AS keyId, name, connected_at AS connectedAt FROM connections LEFT JOIN keys ON keys.id = key_id
    WHERE server = ? AND key_id > ? AND connected_at IS NOT NULL ORDER BY key_id LIMIT ?`;
  const rows = sql.exec<{ keyId: string; name: string | null; connectedAt: number }>(query, server, cursor, limit + 1).toArray();
  const items = rows.slice(0, limit);
  return {
    items: items.map(({ keyId, name, connectedAt }) => ({ keyId, ...(name !== null && { name }), connectedAt: isoTime(connectedAt) })),
    nextCursor: rows.length > limit ? (items.at(-1)?.keyId ?? null) : null,
  };
}

/** Call in the transaction that removes the server, or changes its URL or client. */
export function dropConnectionsTo(sql: SqlStorage, server: string): void {
  if (overwrite(sql, 'connections', 'sealed', 'server = ?', server)) requestClose(sql);
  sql.exec('DELETE FROM connections WHERE server = ?', server);
}

/** Call in the transaction that revokes the key or removes the user. */
export function dropConnectionsOf(sql: SqlStorage, keyId: string): void {
  if (overwrite(sql, 'connections', 'sealed', 'key_id = ?', keyId)) requestClose(sql);
  sql.exec('DELETE FROM connections WHERE key_id = ?', keyId);
}

/** Deletes sign-ins that were never completed, and connections of expired keys. */
export function sweepConnections({ sql, record, now }: CatalogContext): void {
  const times = [now() - pendingTtlMs, now()];
  record(() => {
    if (overwrite(sql, 'connections', 'sealed', unused, ...times)) requestClose(sql);
    sql.exec(deleteUnused, ...times);
  });
}

const unused = '((connected_at IS NULL AND revision <= ?) OR key_id IN (SELECT id FROM keys WHERE expires_at <= ?))';
const deleteUnused = `DELETE FROM connections WHERE ${unused}`;

/** A pending sign-in ends after minutes; a lost one shows its status for some time. */
const pendingTtlMs = 24 * 60 * 60_000;

function erase(sql: SqlStorage, server: string, keyId: string): void {
  if (overwrite(sql, 'connections', 'sealed', 'server = ? AND key_id = ?', server, keyId)) requestClose(sql);
}

function requireSpace({ sql }: CatalogContext): void {
  const { count } = sql.exec<{ count: number }>('SELECT count(*) AS count FROM connections').one();
  if (count < limits.maxConnections) return;
  throw new Problem('conflict', `The workspace has ${limits.maxConnections} connections of users to servers. Remove some first.`);
}

type Row = { sealed: string; revision: number; connected_at: number | null };

function findRow(sql: SqlStorage, server: string, keyId: string): Row | null {
  const query = 'SELECT sealed, revision, connected_at FROM connections WHERE server = ? AND key_id = ?';
  return sql.exec<Row>(query, server, keyId).toArray()[0] ?? null;
}

/** No name of a server contains a space. */
function placeOf({ workspace }: CatalogContext, server: string, keyId: string) {
  return { workspace, kind: 'connection', name: `${server} ${keyId}` } as const;
}
