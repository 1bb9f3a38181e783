/**
 * How servers that list their tools themselves are doing (`core/server-state.ts`): who reads them now, what reading brought, and what
 * they offer besides tools. The reading itself is `engine/refresh-server.ts`; what becomes of the tools is `take-listing.ts`.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ListingReport } from '../core/server.ts';
import { noOffers } from '../core/server-state.ts';
import type { Discovery, Operation, ServerOffers } from '../core/server-state.ts';
import type { RefreshClaim, RefreshFailure, RefreshReason } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { readServer } from './servers.ts';

export function claimRefresh(context: CatalogContext, server: string, _reason: RefreshReason): RefreshClaim {
  return { claimed: true, server: readServer(context, server) };
}

export async function takeDiscovery(
  context: CatalogContext,
  server: string,
  _version: number,
  _discovery: Discovery,
): Promise<ListingReport> {
  requireRow(context.sql, 'server', server);
  throw new Problem('internal', 'not built yet');
}

export function takeFailure(context: CatalogContext, server: string, _version: number, _failure: RefreshFailure): void {
  requireRow(context.sql, 'server', server);
}

export function readOffers(_sql: SqlStorage, _server: string): ServerOffers {
  return noOffers;
}

export function readOperation(sql: SqlStorage, server: string, tool: string): Operation {
  const row = sql.exec<{ body: string }>('SELECT body FROM server_operations WHERE server = ? AND name = ?', server, tool).toArray()[0];
  if (row === undefined) throw new Problem('not_found', `There is no operation "${tool.slice(0, limits.maxQuotedLength)}" of ${server}.`);
  return JSON.parse(row.body) as Operation; // Written by `takeDiscovery` only.
}
