/**
 * The Catalog's part in refreshing a server that lists its tools itself: grants a claim (`core/servers/refresh-state.ts`), and stores the
 * listing. `engine/servers/refresh-server.ts` does the request, which never blocks the queue of writes.
 */
import { limits } from '../../../core/limits/limits.ts';
import { firstWarnings, Problem } from '../../../core/problem.ts';
import { updatesId } from '../../../core/servers/definition-review.ts';
import { updatePolicyOf, type Server } from '../../../core/servers/server.ts';
import type { ListingReport } from '../../../core/servers/server-tool.ts';
import {
  requestClaim,
  boundedDiscovery,
  afterFailedRefresh,
  initialState,
  holdsClaim,
  afterRefresh,
  unreadText,
  withFault,
  type RefreshReason,
  type RefreshState,
} from '../../../core/servers/refresh-state.ts';
import { identityFinding, identityWarning } from '../../../core/servers/server-identity.ts';
import type { Discovery } from '../../../core/servers/server-state.ts';
import type { ListingUpdates } from '../../../core/listing/apply-listing.ts';
import { pinListing } from '../../../core/listing/pin-listing.ts';
import { countOffers, heldOffers, heldOfferWarnings, reviewOffers, type StoredOffer } from '../../../core/listing/stored-offer.ts';
import type { HeldOffer } from '../../../core/triggers/callbacks/held-notice.ts';
import type { RefreshClaim, RefreshAnswer, RefreshFailure } from '../../../ports/catalog.ts';
import type { PinnedOperation } from '../client/catalog-methods.ts';
import type { CatalogContext } from '../context.ts';
import { requireRow, type DocumentRow } from '../documents/documents.ts';
import { enqueuePublish } from '../records/publications.ts';
import { readOffers, storeOffers } from './server-offers.ts';
import { readServerAccess, readServerState, writeServerState } from './server-state.ts';
import { serverOf } from './server-definitions.ts';
import { readTool, readTools } from './server-tools.ts';
import { prepareListing } from './accept-listing.ts';

export function claimRefresh(context: CatalogContext, server: string, reason: RefreshReason, fault?: string): RefreshAnswer {
  const { version, body } = requireRow(context.sql, 'server', server);
  if (body.kind !== 'static') {
    const now = context.now();
    const before = readServerState(context.sql, server) ?? initialState(version, now);
    const asked = requestClaim(fault === undefined ? before : withFault(before, fault, now), reason, now);
    if (asked.state !== before) writeServerState(context.sql, server, asked.state);
    if (!asked.claimed) return { claimed: false, retryAfterMs: asked.retryAfterMs };
    return { claimed: true, server: readServerAccess(context, server), claim: { version, until: asked.until } };
  }
  return { claimed: true, server: readServerAccess(context, server), claim: { version, until: 0 } };
}

export async function takeDiscovery(
  context: CatalogContext,
  { server, claim, discovery: read, by }: { server: string; claim: RefreshClaim; discovery: Discovery; by: string },
): Promise<ListingReport> {
  const row = requireRow(context.sql, 'server', server);
  const { version } = claim;
  if (row.version !== version || row.body.kind === 'static')
    throw new Problem('conflict', `The server "${server}" was changed during the refresh. Refresh it again.`, { version: row.version });
  const before = readServerState(context.sql, server);
  if (before === null || !holdsClaim(before, claim))
    throw new Problem('conflict', `The server "${server}" was refreshed concurrently, and the other result was stored.`);
  const kept = readTools(context.sql, server);
  const { discovery, warnings } = boundedDiscovery(read, new Set(kept.map(({ name }) => name)));
  const { connection, ttlMs } = discovery;
  const identityChange = identityFinding(before.connection, connection);
  const listing = await pinListing(discovery.tools, { operations: discovery.operations ?? {} });
  const taken = {
    kept,
    listing,
    isFirst: before.listedAt === null,
    isOtherServer: false,
    identityChange,
    updates: updatesOf(row, before, by, context.now()),
    price: row.body.price,
  };
  const { report, isOther, commit } = await prepareListing(context, serverOf(context, server), { ...taken, by });
  const known = readOffers(context.sql, server);
  const offers = await reviewOffers(discovery.offers, {
    ...{ kept: known, isFirst: before.listedAt === null, identityChange, trusted: row.body.trusted === true },
    tools: listing.items.map(({ name }) => name),
    ...(discovery.unread && { unread: discovery.unread }),
  });
  const hasOtherOffers = JSON.stringify(known) !== JSON.stringify(offers);
  const all = [...warnings, ...identityWarning(identityChange), ...report.warnings, ...heldOfferWarnings(offers)];
  const warned = firstWarnings(all, 'warnings', limits.maxReportedIssues);
  context.transact(() => {
    commit(newlyHeld(offers, known));
    if (hasOtherOffers) {
      storeOffers(context.sql, server, offers);
      enqueuePublish(context, 'offers', server);
    }
    const canChange = row.body.givenDocument === undefined;
    // Read again: meanwhile the server may have reported a changed list.
    const state = readServerState(context.sql, server) ?? before;
    const read = { connection, offered: countOffers(offers), ...unreadText(discovery), warnings: warned };
    const found = { ...read, ttlMs, canChange, isOther: isOther || hasOtherOffers };
    const after = afterRefresh(state, found, context.now());
    writeServerState(context.sql, server, { ...after, version });
    enqueuePublish(context, 'server', server);
  });
  return { ...report, warnings: warned };
}

function newlyHeld(offers: readonly StoredOffer[], known: readonly StoredOffer[]): HeldOffer[] {
  const before = new Set(heldOffers(known).map(({ kind, refId }) => `${kind} ${refId}`));
  return heldOffers(offers).filter(({ kind, refId }) => !before.has(`${kind} ${refId}`));
}

function updatesOf({ body }: DocumentRow, { isOwn = false }: RefreshState, by: string, at: number): ListingUpdates {
  // Parsed by the schema on write.
  const policy = updatePolicyOf(body as Pick<Server, 'updates' | 'trusted'>, isOwn);
  return { policy, decided: { by: isOwn ? by : updatesId, at } };
}

/** Does nothing if the document has changed or another refresh holds the claim: a failure does not affect their results. */
export function takeFailure(context: CatalogContext, server: string, claim: RefreshClaim, failure: RefreshFailure): void {
  const row = requireRow(context.sql, 'server', server);
  const state = readServerState(context.sql, server);
  if (row.version !== claim.version || state === null || !holdsClaim(state, claim)) return;
  context.transact(() => {
    writeServerState(context.sql, server, afterFailedRefresh(state, failure, context.now()));
    enqueuePublish(context, 'server', server);
  });
}

/** Returns the accepted definition: one that was listed later and is held is not used for calls. */
export function readOperation(sql: SqlStorage, server: string, tool: string): PinnedOperation {
  const accepted = readTool(sql, server, tool)?.accepted;
  const operation = accepted?.definition.operation;
  if (operation === undefined || accepted == null)
    throw new Problem('not_found', `The server ${server} has no operation "${tool.slice(0, limits.maxQuotedLength)}".`);
  return { operation, pin: accepted.pin };
}
