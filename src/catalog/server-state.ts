/**
 * Health rows of servers that list their tools themselves (`core/servers/server-life.ts`): one per server, created with its document. A
 * `static` server has none, since it receives only calls.
 */
import type { ServerState } from '../core/servers/server-life.ts';

export function readState(sql: SqlStorage, server: string): ServerState | null {
  const row = sql.exec<{ state: string }>('SELECT state FROM server_state WHERE server = ?', server).toArray()[0];
  return row === undefined ? null : (JSON.parse(row.state) as ServerState); // Written by `writeState` only.
}

export function writeState(sql: SqlStorage, server: string, state: ServerState): void {
  sql.exec('INSERT OR REPLACE INTO server_state (server, state) VALUES (?, ?)', server, JSON.stringify(state));
}

export function forgetState(sql: SqlStorage, server: string): void {
  sql.exec('DELETE FROM server_state WHERE server = ?', server);
}
