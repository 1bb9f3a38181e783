/**
 * Health rows of servers that list their tools themselves (`core/servers/refresh-state.ts`): one per server, created with its document. A
 * `static` server has none, since it receives only calls.
 */
import type { RefreshState } from '../../core/servers/refresh-state.ts';

export function readServerState(sql: SqlStorage, server: string): RefreshState | null {
  const row = sql.exec<{ state: string }>('SELECT state FROM server_state WHERE server = ?', server).toArray()[0];
  return row === undefined ? null : (JSON.parse(row.state) as RefreshState); // Written by `writeState` only.
}

export function writeServerState(sql: SqlStorage, server: string, state: RefreshState): void {
  sql.exec('INSERT OR REPLACE INTO server_state (server, state) VALUES (?, ?)', server, JSON.stringify(state));
}

export function deleteServerState(sql: SqlStorage, server: string): void {
  sql.exec('DELETE FROM server_state WHERE server = ?', server);
}
