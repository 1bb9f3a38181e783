/** The latest prompts, resources and templates of MCP servers. */
import { noOffers } from '../../core/servers/server-state.ts';
import type { ServerOffers } from '../../core/servers/server-state.ts';
import { fromTextPieces, toTextPieces } from './text-pieces.ts';

/** Call in a write's transaction. */
export function storeServerOffers(sql: SqlStorage, server: string, offers: ServerOffers): void {
  sql.exec('DELETE FROM server_offers WHERE server = ?', server);
  if (offers.prompts.length + offers.resources.length + offers.resourceTemplates.length === 0) return;
  for (const [sequence, piece] of toTextPieces(JSON.stringify(offers)).entries())
    sql.exec('INSERT INTO server_offers (server, sequence, data) VALUES (?, ?, ?)', server, sequence, piece);
}

export function readServerOffers(sql: SqlStorage, server: string): ServerOffers {
  const query = 'SELECT data FROM server_offers WHERE server = ? ORDER BY sequence';
  const pieces = sql.exec<{ data: ArrayBuffer }>(query, server).toArray();
  const text = fromTextPieces(pieces.map(({ data }) => data));
  return text === null ? noOffers : (JSON.parse(text) as ServerOffers); // Written by `storeOffers` only.
}
