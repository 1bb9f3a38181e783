/** What is kept of signing in to a server: registration, tokens, a sign-in under way. Sealed; its content is `mcp/oauth/`'s. */
import { openValue, sealValue } from '../storage/secret-box.ts';
import type { ServerGrant } from '../ports/catalog.ts';
import { recordChange } from './audit.ts';
import { requestClose } from './close-database.ts';
import type { CatalogContext } from './context.ts';

export async function readGrant(context: CatalogContext, server: string): Promise<ServerGrant> {
  const row = readRow(context.sql, server);
  if (row === null || row.sealed === null) return { value: null, revision: row?.revision ?? 0 };
  return { value: await openValue(context.master, placeOf(context, server), row.sealed), revision: row.revision };
}

/** False: somebody else wrote since `revision`. */
export async function saveGrant(
  context: CatalogContext,
  { server, grant: { value, revision }, by }: { server: string; grant: ServerGrant; by: string },
): Promise<boolean> {
  const sealed = value === null ? null : await sealValue(context.master, placeOf(context, server), value);
  return context.transact(() => {
    const before = readRow(context.sql, server);
    if ((before?.revision ?? 0) !== revision) return false;
    const hadOne = before !== null && before.sealed !== null;
    // Tokens that are refreshed are no change of the configuration.
    if (hadOne !== (sealed !== null))
      recordChange(context, { by, action: sealed === null ? 'sign-out' : 'sign-in', resource: 'server', name: server });
    overwriteGrant(context.sql, server);
    context.sql.exec('INSERT OR REPLACE INTO server_grants (server, sealed, revision) VALUES (?, ?, ?)', server, sealed, revision + 1);
    return true;
  });
}

/** Part of a write's transaction: what was granted for another address, or another client, is for nobody. The count goes on, so that a late writer finds out. */
export function dropGrant(sql: SqlStorage, server: string): void {
  overwriteGrant(sql, server);
  sql.exec('UPDATE server_grants SET sealed = NULL, revision = revision + 1 WHERE server = ?', server);
}

/** Before it is replaced or dropped, so that no page of the file holds it. */
function overwriteGrant(sql: SqlStorage, server: string): void {
  const statement = `UPDATE server_grants SET sealed = substr(hex(zeroblob(length(sealed))), 1, length(sealed)) WHERE server = ? AND sealed IS NOT NULL`;
  if (sql.exec(statement, server).rowsWritten > 0) requestClose(sql);
}

function readRow(sql: SqlStorage, server: string): { sealed: string | null; revision: number } | null {
  const query = 'SELECT sealed, revision FROM server_grants WHERE server = ?';
  return sql.exec<{ sealed: string | null; revision: number }>(query, server).toArray()[0] ?? null;
}

function placeOf({ workspace }: CatalogContext, server: string) {
  return { workspace, kind: 'grant', name: server } as const;
}
