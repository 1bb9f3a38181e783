/** The stored sign-in of a server: registration, tokens, a pending sign-in. Sealed; `mcp/oauth/` defines the content. */
import { openValue, sealValue } from '../../../storage/keys/secret-box.ts';
import type { ServerGrant } from '../../../ports/catalog.ts';
import { dropConnectionsTo } from './connections.ts';
import { recordChange } from '../records/audit.ts';
import { enqueuePublish } from '../records/publications.ts';
import { overwrite, requestClose } from '../records/close-database.ts';
import type { CatalogContext } from '../context.ts';

export async function readGrant(context: CatalogContext, server: string): Promise<ServerGrant> {
  const row = readRow(context.sql, server);
  if (row === null || row.sealed === null) return { value: null, revision: row?.revision ?? 0 };
  return { value: await openValue(context.master, placeOf(context, server), row.sealed), revision: row.revision };
}

/** Returns false if another write happened since `revision`. */
export async function saveGrant(
  context: CatalogContext,
  { server, grant: { value, revision }, by }: { server: string; grant: ServerGrant; by: string },
): Promise<boolean> {
  const sealed = value === null ? null : await sealValue(context.master, placeOf(context, server), value);
  return context.transact(() => {
    const before = readRow(context.sql, server);
    if ((before?.revision ?? 0) !== revision) return false;
    const hadOne = before !== null && before.sealed !== null;
    // Refreshing tokens does not count as a configuration change.
    if (hadOne !== (sealed !== null)) {
      // A server without `oauth` in its document gets it by its grant (`core/servers/server.ts`).
      enqueuePublish(context, 'server', server);
      recordChange(context, { by, action: sealed === null ? 'sign-out' : 'sign-in', resource: 'server', name: server });
    }
    overwriteGrant(context.sql, server);
    context.sql.exec('INSERT OR REPLACE INTO server_grants (server, sealed, revision) VALUES (?, ?, ?)', server, sealed, revision + 1);
    return true;
  });
}

/**
 * Call in a write's transaction when URL or client changes: removes the grant, and those of users. The revision increases, so that a late
 * writer notices.
 */
export function dropGrant(sql: SqlStorage, server: string): void {
  dropConnectionsTo(sql, server);
  overwriteGrant(sql, server);
  sql.exec('UPDATE server_grants SET sealed = NULL, revision = revision + 1 WHERE server = ?', server);
}

export function hasGrant(sql: SqlStorage, server: string): boolean {
  return readRow(sql, server)?.sealed != null;
}

/** Call before the value is replaced or removed. */
function overwriteGrant(sql: SqlStorage, server: string): void {
  if (overwrite(sql, 'server_grants', 'sealed', 'server = ?', server)) requestClose(sql);
}

function readRow(sql: SqlStorage, server: string): { sealed: string | null; revision: number } | null {
  const query = 'SELECT sealed, revision FROM server_grants WHERE server = ?';
  return sql.exec<{ sealed: string | null; revision: number }>(query, server).toArray()[0] ?? null;
}

function placeOf({ workspace }: CatalogContext, server: string) {
  return { workspace, kind: 'grant', name: server } as const;
}
