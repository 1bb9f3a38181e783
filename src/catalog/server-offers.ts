/** What MCP servers offer besides tools, as it was last read: prompts, resources and templates, as JSON in pieces that a row takes. */
import { limits } from '../core/limits.ts';
import { noOffers } from '../core/server-state.ts';
import type { ServerOffers } from '../core/server-state.ts';
import type { Warning } from '../core/warning.ts';
import { fromPieces, toPieces } from './text-pieces.ts';

/** Within the limits; what is left out is told. */
export function boundedOffers(offers: ServerOffers): { offers: ServerOffers; warnings: Warning[] } {
  const room = { characters: limits.maxServerOffersBytes };
  const warnings: Warning[] = [];
  const bounded = <T>(kind: keyof ServerOffers, items: readonly T[]): T[] => {
    const kept = items.slice(0, limits.maxServerOffers).filter((item) => {
      room.characters -= JSON.stringify(item).length;
      return room.characters >= 0;
    });
    if (kept.length < items.length) {
      const bounds = `at most ${limits.maxServerOffers}, and ${limits.maxServerOffersBytes} characters of all that it offers`;
      warnings.push({ path: kind, message: `the server lists ${items.length}, of which ${kept.length} are kept: ${bounds}` });
    }
    return kept;
  };
  return {
    offers: {
      prompts: bounded('prompts', offers.prompts),
      resources: bounded('resources', offers.resources),
      resourceTemplates: bounded('resourceTemplates', offers.resourceTemplates),
    },
    warnings,
  };
}

/** Part of a write's transaction. */
export function storeOffers(sql: SqlStorage, server: string, offers: ServerOffers): void {
  sql.exec('DELETE FROM server_offers WHERE server = ?', server);
  if (offers.prompts.length + offers.resources.length + offers.resourceTemplates.length === 0) return;
  for (const [sequence, piece] of toPieces(JSON.stringify(offers)).entries())
    sql.exec('INSERT INTO server_offers (server, sequence, data) VALUES (?, ?, ?)', server, sequence, piece);
}

export function readOffers(sql: SqlStorage, server: string): ServerOffers {
  const query = 'SELECT data FROM server_offers WHERE server = ? ORDER BY sequence';
  const pieces = sql.exec<{ data: ArrayBuffer }>(query, server).toArray();
  const text = fromPieces(pieces.map(({ data }) => data));
  return text === null ? noOffers : (JSON.parse(text) as ServerOffers); // Written by `storeOffers` only.
}
