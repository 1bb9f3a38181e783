/**
 * What the refreshes of servers store beside their tools: a health row for each server that lists its tools itself
 * (`core/servers/refresh-state.ts`; a `static` server has none, since it receives only calls), and the prompts, resources and templates of
 * MCP servers. Also reads a server as calls and listings need it.
 */
import type { RefreshState } from '../../core/servers/refresh-state.ts';
import { toServerAccess, type Server, type ServerAccess } from '../../core/servers/server.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow } from '../documents/documents.ts';
import { callableNames } from './server-definitions.ts';
import { noOffers, type ServerOffers } from '../../core/servers/server-state.ts';
import { readText, writeText } from '../records/text-chunks.ts';

export function readServerState(sql: SqlStorage, server: string): RefreshState | null {
  return readServerStates(sql, [server]).get(server) ?? null;
}

export function readServerStates(sql: SqlStorage, servers: readonly string[]): Map<string, RefreshState> {
  const query = 'SELECT server, state FROM server_state WHERE server IN (SELECT value FROM json_each(?))';
  const rows = sql.exec<{ server: string; state: string }>(query, JSON.stringify(servers)).toArray();
  // Written by `writeServerState` only.
  return new Map(rows.map(({ server, state }) => [server, JSON.parse(state) as RefreshState]));
}

export function writeServerState(sql: SqlStorage, server: string, state: RefreshState): void {
  sql.exec('INSERT OR REPLACE INTO server_state (server, state) VALUES (?, ?)', server, JSON.stringify(state));
}

export function deleteServerState(sql: SqlStorage, server: string): void {
  sql.exec('DELETE FROM server_state WHERE server = ?', server);
}

export function readServerAccess(context: CatalogContext, name: string): ServerAccess {
  // Server bodies were parsed by the schema when they were written.
  const { body, version } = requireRow(context.sql, 'server', name);
  const { connection = null, staleAt = null } = readServerState(context.sql, name) ?? {};
  return toServerAccess(name, body as Server, { ...callableNames(context, name), version, connection, staleAt });
}

/** Call in a write's transaction. */
export function storeServerOffers(sql: SqlStorage, server: string, offers: ServerOffers): void {
  sql.exec('DELETE FROM server_offers WHERE server = ?', server);
  if (offers.prompts.length + offers.resources.length + offers.resourceTemplates.length === 0) return;
  writeText(sql, 'server_offers', { server }, JSON.stringify(offers));
}

export function readServerOffers(sql: SqlStorage, server: string): ServerOffers {
  const text = readText(sql, 'server_offers', { server });
  return text === null ? noOffers : (JSON.parse(text) as ServerOffers); // Written by `storeServerOffers` only.
}
