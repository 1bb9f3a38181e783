/**
 * Stores a server's listing. `core/listing/apply-listing.ts` makes the decisions; this file applies them to a workspace, with their effects
 * on toolsets.
 */
import type { Finding } from '../../../core/tools/hold.ts';
import { canonicalOf, type DefinitionSource, type StoredTool, toolStateOf } from '../../../core/listing/stored-tool.ts';
import { reportListing } from '../../../core/listing/listing-report.ts';
import type { ListingReport } from '../../../core/servers/server-tool.ts';
import type { ListingUpdates } from '../../../core/listing/apply-listing.ts';
import type { PinnedListing } from '../../../core/listing/pin-listing.ts';
import { findingCodes } from '../../../core/servers/definition-review.ts';
import type { HeldOffer, HeldTool } from '../../../core/triggers/callbacks/held-notice.ts';
import type { Warning } from '../../../core/problem.ts';
import { recordChange } from '../records/audit.ts';
import type { CatalogContext } from '../context.ts';
import { enqueueHeld } from '../triggers/callbacks/callbacks.ts';
import { knownTools } from '../tools/known-tools.ts';
import { definitionsOfServer, dropDefinitions } from './server-definitions.ts';
import { deleteServerTool, sizeOfOthers, writeTool } from './server-tools.ts';
import { recompileWith } from '../toolsets/toolsets.ts';
import { requireListingRoom } from '../../../core/listing/listing-size.ts';
import { namedTools } from '../toolsets/toolset-versions.ts';

/** `isOther`: definitions differ from those before. `commit` runs in the transaction of the write. `offers`: those that the listing holds. */
export type PreparedListing = { report: ListingReport; isOther: boolean; commit: (offers?: readonly HeldOffer[]) => void };

/**
 * `by`: key that requested a refresh, for the audit. `isFirst`: the server is new. `isOtherServer`: the settings for all tools in its
 * document have changed, so every toolset with one of them is recompiled. `updates`: what is in force without a review; by default nothing.
 */
export async function prepareListing(
  context: CatalogContext,
  server: DefinitionSource,
  request: {
    kept: readonly StoredTool[];
    listing: PinnedListing;
    isFirst: boolean;
    isOtherServer: boolean;
    identityChange?: Finding | null;
    updates?: ListingUpdates;
    /** Of the server's document. */
    price?: unknown;
    by?: string;
  },
): Promise<PreparedListing> {
  const named = namedTools(context.sql, server.name);
  // Loaded when a server was listed, which most isolates never do.
  const { applyListing, unlistedPrices } = await import('../../../core/listing/apply-listing.ts');
  const taken = applyListing({
    kept: request.kept,
    items: request.listing.items,
    isFirst: request.isFirst,
    identityChange: request.identityChange ?? null,
    ...(request.updates && { updates: request.updates }),
    isNamed: (name) => named.has(canonicalOf(server.name, name)),
  });
  requireListingRoom(taken.tools, sizeOfOthers(context.sql, server.name));
  const touched = request.isOtherServer ? taken.tools : taken.changed;
  const { warnings, commit } = await prepareTools(context, server, taken.tools, touched);
  const known = new Set(heldTools(server.name, request.kept).map(({ refId }) => refId));
  const held = heldTools(server.name, taken.changed).filter(({ refId }) => !known.has(refId));
  const isOther = taken.changed.length + taken.forgotten.length > 0;
  return {
    report: reportListing(server.name, request.listing, taken, [...unlistedPrices(request.price, request.listing.items), ...warnings]),
    isOther,
    commit: (offers = []) => {
      // A write of the server's document has its own audit row.
      if (request.by !== undefined && isOther)
        recordChange(context, { by: request.by, action: 'refresh', resource: 'server', name: server.name });
      for (const tool of taken.changed) writeTool(context, server.name, tool);
      for (const name of taken.forgotten) deleteServerTool(context.sql, server.name, name);
      enqueueHeld(context, server.name, held, offers);
      commit();
    },
  };
}

function heldTools(server: string, tools: readonly StoredTool[]): HeldTool[] {
  return tools.flatMap((tool) => {
    const { name, reason, listed, findings } = tool;
    if (toolStateOf(tool) !== 'held' || reason === null || listed === null) return [];
    return [{ name, canonical: canonicalOf(server, name), reason, refId: listed.pin, findings: findingCodes(findings) }];
  });
}

/** Recompiles the toolsets with any of the tools in `touched`, of a server that will have these tools. `commit`: after the tools were written. */
export async function prepareTools(
  context: CatalogContext,
  server: DefinitionSource,
  tools: readonly StoredTool[],
  touched: readonly StoredTool[],
): Promise<{ warnings: Warning[]; commit: () => void }> {
  const known = knownTools(context, { server: { name: server.name, tools: definitionsOfServer(server, tools) } });
  const canonicals = touched.map(({ name }) => canonicalOf(server.name, name));
  const { warnings, commit } = await recompileWith(context, canonicals, known);
  return {
    warnings,
    commit: () => {
      dropDefinitions(context, server.name);
      commit();
    },
  };
}
