/**
 * Reading a server that lists its tools itself, as far as the Catalog has a part in it: who may read it and when, what becomes of what was
 * read, and of a failure. The reading itself is `engine/refresh-server.ts`; it never waits in the queue of writes.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ListingReport, Server } from '../core/server.ts';
import { strangerFinding } from '../core/server-identity.ts';
import type { Discovery, Operation } from '../core/server-state.ts';
import { pinListing } from '../core/take-listing.ts';
import type { Warning } from '../core/warning.ts';
import type { RefreshClaim, RefreshFailure, RefreshReason } from '../ports/catalog.ts';
import type { CatalogContext } from './context.ts';
import { requireRow } from './documents.ts';
import { readServer } from './server-access.ts';
import { serverOf } from './server-definitions.ts';
import { boundedOffers, storeOffers } from './server-offers.ts';
import { boundedConnection, freshState, readState, writeState } from './server-state.ts';
import type { ServerState } from './server-state.ts';
import { readTool, readTools } from './server-tools.ts';
import { prepareListing } from './take-listing.ts';

export function claimRefresh(context: CatalogContext, server: string, reason: RefreshReason): RefreshClaim {
  const { sql } = context;
  const { version, body } = requireRow(sql, 'server', server);
  if (body.kind === 'static') return { claimed: true, server: readServer(context, server) };
  const now = context.now();
  const state = readState(sql, server) ?? freshState(version, now);
  const waitUntil = notBefore(state, reason, now);
  if (waitUntil > now) {
    if (reason === 'changed') noteChange(context, server, state, waitUntil);
    return { claimed: false, retryAfterMs: waitUntil - now };
  }
  writeState(sql, server, { ...state, leasedUntil: now + limits.refreshLeaseMs, hasChanged: false });
  return { claimed: true, server: readServer(context, server) };
}

/** From when on a reader with this reason may read. */
function notBefore({ leasedUntil, staleAt, checkedAt, failures }: ServerState, reason: RefreshReason, now: number): number {
  if (leasedUntil !== null && leasedUntil > now) return leasedUntil;
  switch (reason) {
    case 'asked':
      return now;
    case 'stale':
      return staleAt ?? now + limits.maxListingTtlMs;
    case 'changed': {
      const next = (checkedAt ?? 0) + limits.minRefreshIntervalMs;
      return failures > 0 ? Math.max(next, staleAt ?? 0) : next;
    }
    default:
      return reason satisfies never;
  }
}

/** What it said is not forgotten for coming too soon: it is read again as soon as somebody may. */
function noteChange({ sql }: CatalogContext, server: string, state: ServerState, waitUntil: number): void {
  if (state.leasedUntil === waitUntil) {
    if (!state.hasChanged) writeState(sql, server, { ...state, hasChanged: true });
  } else if (state.staleAt === null || state.staleAt > waitUntil) writeState(sql, server, { ...state, staleAt: waitUntil });
}

export async function takeDiscovery(
  context: CatalogContext,
  server: string,
  version: number,
  discovery: Discovery,
): Promise<ListingReport> {
  const row = requireRow(context.sql, 'server', server);
  if (row.version !== version || row.body.kind === 'static')
    throw new Problem('conflict', `The server "${server}" was written anew while it was read: read it again.`, { version: row.version });
  const before = readState(context.sql, server) ?? freshState(version, context.now());
  const kept = readTools(context.sql, server);
  const connection = boundedConnection(discovery.connection);
  const stranger = strangerFinding(before.connection, connection);
  const { tools, warnings } = boundedTools(discovery.tools, new Set(kept.map(({ name }) => name)));
  const listing = await pinListing(tools, { operations: discovery.operations ?? {} });
  const { report, commit } = await prepareListing(context, serverOf(context, server), {
    kept,
    listing,
    isFirst: before.listedAt === null,
    isOtherServer: false,
    stranger,
  });
  const { offers, warnings: cut } = boundedOffers(discovery.offers);
  context.transact(() => {
    commit();
    storeOffers(context.sql, server, offers);
    const now = context.now();
    const { hasChanged } = readState(context.sql, server) ?? before;
    writeState(context.sql, server, {
      ...freshState(version, now),
      status: 'ok',
      connection,
      checkedAt: now,
      listedAt: now,
      staleAt: hasChanged ? now + limits.minRefreshIntervalMs : staleAfter(row.body as Server & Kept, discovery.ttlMs, now),
      offered: {
        prompts: offers.prompts.length,
        resources: offers.resources.length,
        resourceTemplates: offers.resourceTemplates.length,
      },
    });
  });
  const other = stranger === null ? [] : [{ path: 'url', message: `${stranger.message}: its tools are held until somebody accepts them` }];
  return { ...report, warnings: [...warnings, ...other, ...cut, ...report.warnings] };
}

/** `INSERT`ed by the writer of servers beside what the schema knows. */
type Kept = { givenDocument?: unknown };

/** null: what was given whole does not change by itself. */
function staleAfter({ givenDocument }: Kept, ttlMs: number | null, now: number): number | null {
  if (givenDocument !== undefined) return null;
  return now + Math.min(Math.max(ttlMs ?? limits.listingTtlMs, limits.minListingTtlMs), limits.maxListingTtlMs);
}

/** Of too many, those that are known already go first: a server that lists a flood does not wash its own tools away. */
function boundedTools(
  tools: readonly Record<string, unknown>[],
  known: ReadonlySet<string>,
): Pick<Discovery, 'tools'> & { warnings: Warning[] } {
  if (tools.length <= limits.maxServerTools) return { tools, warnings: [] };
  const isKnown = ({ name }: Record<string, unknown>): boolean => typeof name === 'string' && known.has(name);
  const sorted = [...tools.filter(isKnown), ...tools.filter((tool) => !isKnown(tool))];
  const message = `the server lists ${tools.length} tools, of which ${limits.maxServerTools} are taken, those that were known before first`;
  return { tools: sorted.slice(0, limits.maxServerTools), warnings: [{ path: 'tools', message }] };
}

/** Does nothing when the document is another one by now: what failed is not what is there. */
export function takeFailure(context: CatalogContext, server: string, version: number, failure: RefreshFailure): void {
  const row = requireRow(context.sql, 'server', server);
  if (row.version !== version || row.body.kind === 'static') return;
  const now = context.now();
  const state = readState(context.sql, server) ?? freshState(version, now);
  const backoffMs = Math.min(limits.minRefreshIntervalMs * 2 ** Math.min(state.failures, 20), limits.maxRefreshBackoffMs);
  writeState(context.sql, server, {
    ...state,
    status: failure.status,
    reason: failure.reason.slice(0, limits.maxErrorMessageLength).toWellFormed(),
    checkedAt: now,
    staleAt: now + backoffMs,
    leasedUntil: null,
    failures: state.failures + 1,
  });
}

/** Of the definition that is in force: one that was listed since and waits for somebody is called by nobody. */
export function readOperation(sql: SqlStorage, server: string, tool: string): Operation {
  const operation = readTool(sql, server, tool)?.accepted?.definition.operation;
  if (operation === undefined)
    throw new Problem('not_found', `There is no operation "${tool.slice(0, limits.maxQuotedLength)}" of ${server}.`);
  return operation;
}
