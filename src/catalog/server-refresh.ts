/**
 * Reading a server that lists its tools itself, as far as the Catalog has a part in it: leave to do it (`core/servers/server-life.ts`), and what becomes
 * of what was read. The reading itself is `engine/refresh-server.ts`; it never waits in the queue of writes.
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
    throw new Problem('conflict', `The server "${server}" was written anew while it was read: read it again.`, { version: row.version });
  const before = readState(context.sql, server);
  if (before === null || !hasLeave(before, leave))
    throw new Problem('conflict', `The server "${server}" was read again by somebody else meanwhile, and what that brought counts.`);
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
    // Asked again: it may have said meanwhile that its list is another one.
    const state = readState(context.sql, server) ?? before;
    const after = wasRead(state, { connection, offered: countOffers(offers), ttlMs, canChange }, context.now());
    writeState(context.sql, server, { ...after, version });
  });
  return { ...report, warnings: [...warnings, ...strangerWarning(stranger), ...report.warnings] };
}

/** Does nothing when the document is another one by now, or somebody else reads it: what failed is not what is there. */
export function takeFailure(context: CatalogContext, server: string, leave: ReadLeave, failure: RefreshFailure): void {
  const row = requireRow(context.sql, 'server', server);
  const state = readState(context.sql, server);
  if (row.version !== leave.version || state === null || !hasLeave(state, leave)) return;
  writeState(context.sql, server, couldNotBeRead(state, failure, context.now()));
}

/** Of the definition that is in force: one that was listed since and waits for somebody is called by nobody. */
export function readOperation(sql: SqlStorage, server: string, tool: string): Operation {
  const operation = readTool(sql, server, tool)?.accepted?.definition.operation;
  if (operation === undefined)
    throw new Problem('not_found', `There is no operation "${tool.slice(0, limits.maxQuotedLength)}" of ${server}.`);
  return operation;
}
