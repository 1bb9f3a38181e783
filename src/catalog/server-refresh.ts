/**
 * The Catalog's part in refreshing a server that lists its tools itself: grants a lease (`core/servers/server-life.ts`), and stores the
 * listing. `engine/refresh-server.ts` does the request, which never blocks the queue of writes.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ListingReport } from '../core/servers/server.ts';
import { askLeave, boundedDiscovery, couldNotBeRead, countOffers, freshState, hasLeave, wasRead } from '../core/servers/server-life.ts';
import type { RefreshReason } from '../core/servers/server-life.ts';
import { strangerFinding, strangerWarning } from '../core/servers/server-identity.ts';
import type { Discovery, Operation } from '../core/servers/server-state.ts';
import { pinListing } from '../core/listing/take-listing.ts';
import type { ReadLeave, RefreshClaim, RefreshFailure } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { readServer } from './server-access.ts';
import { serverOf } from './server-definitions.ts';
import { storeOffers } from './server-offers.ts';
import { readState, writeState } from './server-state.ts';
import { readTool, readTools } from './server-tools.ts';
import { prepareListing } from './take-listing.ts';

export function claimRefresh(context: CatalogContext, server: string, reason: RefreshReason): RefreshClaim {
  const { version, body } = requireRow(context.sql, 'server', server);
  if (body.kind !== 'static') {
    const now = context.now();
    const before = readState(context.sql, server) ?? freshState(version, now);
    const asked = askLeave(before, reason, now);
    if (asked.state !== before) writeState(context.sql, server, asked.state);
    if (!asked.claimed) return { claimed: false, retryAfterMs: asked.retryAfterMs };
    return { claimed: true, server: readServer(context, server), leave: { version, until: asked.until } };
  }
  return { claimed: true, server: readServer(context, server), leave: { version, until: 0 } };
}

export async function takeDiscovery(
  context: CatalogContext,
  { server, leave, discovery: read, by }: { server: string; leave: ReadLeave; discovery: Discovery; by: string },
): Promise<ListingReport> {
  const row = requireRow(context.sql, 'server', server);
  const { version } = leave;
  if (row.version !== version || row.body.kind === 'static')
    throw new Problem('conflict', `The server "${server}" was changed during the refresh. Refresh it again.`, { version: row.version });
  const before = readState(context.sql, server);
  if (before === null || !hasLeave(before, leave))
    throw new Problem('conflict', `The server "${server}" was refreshed concurrently, and the other result was stored.`);
  const kept = readTools(context.sql, server);
  const { discovery, warnings } = boundedDiscovery(read, new Set(kept.map(({ name }) => name)));
  const { connection, offers, ttlMs } = discovery;
  const stranger = strangerFinding(before.connection, connection);
  const listing = await pinListing(discovery.tools, { operations: discovery.operations ?? {} });
  const taken = { kept, listing, isFirst: before.listedAt === null, isOtherServer: false, stranger };
  const { report, commit } = await prepareListing(context, serverOf(context, server), { ...taken, by });
  context.transact(() => {
    commit();
    storeOffers(context.sql, server, offers);
    const canChange = row.body.givenDocument === undefined;
    // Read again: meanwhile the server may have reported a changed list.
    const state = readState(context.sql, server) ?? before;
    const after = wasRead(state, { connection, offered: countOffers(offers), ttlMs, canChange }, context.now());
    writeState(context.sql, server, { ...after, version });
  });
  return { ...report, warnings: [...warnings, ...strangerWarning(stranger), ...report.warnings] };
}

/** Does nothing if the document has changed or another refresh holds the lease: a failure does not affect their results. */
export function takeFailure(context: CatalogContext, server: string, leave: ReadLeave, failure: RefreshFailure): void {
  const row = requireRow(context.sql, 'server', server);
  const state = readState(context.sql, server);
  if (row.version !== leave.version || state === null || !hasLeave(state, leave)) return;
  writeState(context.sql, server, couldNotBeRead(state, failure, context.now()));
}

/** Returns the accepted definition: one that was listed later and is held is not used for calls. */
export function readOperation(sql: SqlStorage, server: string, tool: string): Operation {
  const operation = readTool(sql, server, tool)?.accepted?.definition.operation;
  if (operation === undefined)
    throw new Problem('not_found', `The server ${server} has no operation "${tool.slice(0, limits.maxQuotedLength)}".`);
  return operation;
}
