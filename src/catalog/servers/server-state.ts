/**
 * Health rows of servers that list their tools themselves (`core/servers/refresh-state.ts`): one per server, created with its document. A
 * `static` server has none, since it receives only calls.
 */
import type { RefreshState } from '../../core/servers/refresh-state.ts';

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
