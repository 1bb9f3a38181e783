/**
 * What the servers of an edge handler list, in memory. The decisions are those of the Catalog (`core/listing/apply-listing.ts`,
 * `core/servers/refresh-state.ts`): the first list is accepted, and what changes later is held unless `updates` accepts it, for as long as this
 * instance runs.
 */
import { applyListing } from '../core/listing/apply-listing.ts';
import { pinListing, type PinnedListing } from '../core/listing/pin-listing.ts';
import { reportListing, requireNamedItems } from '../core/listing/listing-report.ts';
import { listingSize, requireListingRoom } from '../core/listing/listing-size.ts';
import {
  countOffers,
  offersInForce,
  heldOfferWarnings,
  reviewOffers,
  type ReviewedOffer,
  showOffer,
  type StoredOffer,
} from '../core/listing/stored-offer.ts';
import { acceptedAnnotationPins, type StoredTool, toolStateOf, toServerTool, toToolDefinition } from '../core/listing/stored-tool.ts';
import { Problem, quoted } from '../core/problem.ts';
import {
  afterFailedRefresh,
  unreadText,
  withFault,
  afterRefresh,
  boundedDiscovery,
  healthOf,
  holdsClaim,
  initialState,
  shownState,
  type RefreshReason,
  type RefreshState,
  requestClaim,
} from '../core/servers/refresh-state.ts';
import { updatesId } from '../core/servers/definition-review.ts';
import { type ServerAccess, type CompleteServer, toServerAccess, updatePolicyOf } from '../core/servers/server.ts';
import type { ListingReport, ServerTool } from '../core/servers/server-tool.ts';
import { identityFinding, identityWarning } from '../core/servers/server-identity.ts';
import { type Discovery, type ServerOffers, type ServerStatuses, statusCounts } from '../core/servers/server-state.ts';
import type { ToolDefinition } from '../core/tools/tool.ts';
import type { RefreshAnswer, RefreshFailure, RefreshClaim } from '../ports/catalog.ts';
import type { PinnedOperation } from '../objects/catalog/client/catalog-methods.ts';

type Kept = { document: CompleteServer; tools: readonly StoredTool[]; state: RefreshState; offers: readonly StoredOffer[] };

/** Documents never change, so each has its first version. */
const version = 1;

export type ServerLists = ReturnType<typeof createServerLists>;

/** `isNamed`: whether a toolset names the tool, by canonical name. `changed`: called after a server's tools have changed. */
export function createServerLists(
  documents: ReadonlyMap<string, CompleteServer>,
  { now, isNamed, changed }: { now(): number; isNamed(canonical: string): boolean; changed(): void },
) {
  const servers = new Map(
    Array.from(documents, ([name, document]): [string, Kept] => [
      name,
      { document, tools: [], state: initialState(version, now()), offers: [] },
    ]),
  );

  const require = (name: string): Kept => {
    const kept = servers.get(name);
    if (kept === undefined) throw new Problem('not_found', `There is no server ${quoted(name)}.`);
    return kept;
  };
  const requireTool = (server: string, name: string): StoredTool => {
    const tool = require(server).tools.find((candidate) => candidate.name === name);
    if (tool === undefined) throw new Problem('not_found', `The server ${quoted(server)} has no tool ${quoted(name)}.`);
    return tool;
  };
  const definitionsOf = (name: string, { document, tools }: Kept): ToolDefinition[] => {
    const { kind, trusted = false, instructions } = document;
    const source = { name, kind, trusted, ...(instructions !== undefined && { instructions }) };
    return tools.flatMap((tool) => toToolDefinition(source, tool) ?? []);
  };
  const accessOf = (name: string, { document, tools, state }: Kept): ServerAccess => {
    const named = (isReady: boolean): string[] => tools.flatMap((tool) => ((toolStateOf(tool) === 'ready') === isReady ? [tool.name] : []));
    const known = { ready: named(true), held: named(false), ...acceptedAnnotationPins(tools), version, connection: state.connection };
    return toServerAccess(name, document, { ...known, staleAt: document.kind === 'static' ? null : state.staleAt });
  };
  const take = (
    name: string,
    kept: Kept,
    listing: PinnedListing,
    { isFirst, identityChange }: { isFirst: boolean; identityChange: ReturnType<typeof identityFinding> },
  ): ListingReport => {
    const applied = applyListing({
      ...{ kept: kept.tools, items: listing.items, isFirst, identityChange },
      updates: { policy: updatePolicyOf(kept.document), decided: { by: updatesId, at: now() } },
      isNamed: (tool) => isNamed(`${name}.${tool}`),
    });
    const others = listingSize([...servers.values()].flatMap((other) => (other === kept ? [] : other.tools)));
    requireListingRoom(applied.tools, others);
    kept.tools = applied.tools;
    return reportListing(name, listing, applied, []);
  };

  return {
    names: (): string[] => [...servers.keys()],
    has: (name: string): boolean => servers.has(name),
    /** Takes over the tools in the documents of `static` servers. Call once, before anything else. */
    async start(): Promise<void> {
      for (const [name, kept] of servers) {
        if (kept.document.kind !== 'static') continue;
        const listing = await pinListing(kept.document.tools);
        requireNamedItems(listing);
        take(name, kept, listing, { isFirst: true, identityChange: null });
        kept.state = { ...kept.state, listedAt: now() };
      }
    },
    /** Whether its tools were ever read. Also true for a server that does not exist. */
    isListed: (name: string): boolean => servers.get(name)?.state.listedAt !== null,
    /** Why it could not be read; null: it was, or it was not tried. */
    failureOf: (name: string): string | null => servers.get(name)?.state.reason ?? null,
    definitions: (): ToolDefinition[] => [...servers].flatMap(([name, kept]) => definitionsOf(name, kept)),
    access: (name: string): ServerAccess => accessOf(name, require(name)),
    offers: (name: string): ServerOffers => offersInForce(require(name).offers),
    reviewedOffers: (name: string): ReviewedOffer[] => require(name).offers.map(showOffer),
    tools: (name: string): ServerTool[] => require(name).tools.map((tool) => toServerTool(name, tool)),
    tool: (server: string, name: string): ServerTool => toServerTool(server, requireTool(server, name)),
    /** What GET shows beside the document. */
    shown(name: string): Record<string, unknown> {
      const { document, tools, state } = require(name);
      const counts = { toolCount: tools.length, held: tools.filter((tool) => toolStateOf(tool) === 'held').length };
      if (document.kind === 'static') return counts;
      return { ...counts, ...shownState(state, counts.held) };
    },
    statuses: (): ServerStatuses =>
      statusCounts(
        [...servers.values()].flatMap(({ document, tools, state }) =>
          document.kind === 'static' ? [] : [healthOf(state, tools.filter((tool) => toolStateOf(tool) === 'held').length).status],
        ),
      ),
    document(name: string): string | null {
      const { document } = require(name);
      if (document.kind !== 'openapi' || document.document === undefined) return null;
      return typeof document.document === 'string' ? document.document : JSON.stringify(document.document);
    },
    operation(server: string, name: string): PinnedOperation {
      const { accepted } = requireTool(server, name);
      const operation = accepted?.definition.operation;
      if (operation === undefined || accepted === null)
        throw new Problem('not_found', `The server ${quoted(server)} has no operation ${quoted(name)}.`);
      return { operation, pin: accepted.pin };
    },

    claim(name: string, reason: RefreshReason, fault?: string): RefreshAnswer {
      const kept = require(name);
      if (kept.document.kind === 'static') return { claimed: true, server: accessOf(name, kept), claim: { version, until: 0 } };
      const asked = requestClaim(fault === undefined ? kept.state : withFault(kept.state, fault, now()), reason, now());
      kept.state = asked.state;
      if (!asked.claimed) return { claimed: false, retryAfterMs: asked.retryAfterMs };
      return { claimed: true, server: accessOf(name, kept), claim: { version, until: asked.until } };
    },
    async takeDiscovery(name: string, claim: RefreshClaim, read: Discovery): Promise<ListingReport> {
      const kept = require(name);
      const { discovery, warnings } = boundedDiscovery(read, new Set(kept.tools.map((tool) => tool.name)));
      const listing = await pinListing(discovery.tools, { operations: discovery.operations ?? {} });
      const before = kept.state;
      const identityChange = identityFinding(before.connection, discovery.connection);
      const offers = await reviewOffers(discovery.offers, {
        ...{ kept: kept.offers, isFirst: before.listedAt === null, identityChange, trusted: kept.document.trusted === true },
        tools: listing.items.map((item) => item.name),
        ...(discovery.unread && { unread: discovery.unread }),
      });
      if (!holdsClaim(kept.state, claim))
        throw new Problem('conflict', `The server "${name}" was refreshed concurrently, and the other result was stored.`);
      const report = take(name, kept, listing, { isFirst: before.listedAt === null, identityChange });
      kept.offers = offers;
      const canChange = kept.document.kind !== 'openapi' || kept.document.document === undefined;
      const warned = [...warnings, ...identityWarning(identityChange), ...report.warnings, ...heldOfferWarnings(kept.offers)];
      const reading = {
        connection: discovery.connection,
        offered: countOffers(kept.offers),
        ttlMs: discovery.ttlMs,
        ...unreadText(discovery),
        warnings: warned,
        canChange,
        isOther: false,
      };
      kept.state = afterRefresh(before, reading, now());
      changed();
      return { ...report, warnings: warned };
    },
    takeFailure(name: string, claim: RefreshClaim, failure: RefreshFailure): void {
      const kept = require(name);
      if (holdsClaim(kept.state, claim)) kept.state = afterFailedRefresh(kept.state, failure, now());
    },
    /** The tools of a `static` server never change here. */
    async refreshStatic(name: string): Promise<ListingReport> {
      const kept = require(name);
      if (kept.document.kind !== 'static')
        throw new Problem('conflict', `The server "${name}" lists its tools itself. Refresh it instead.`);
      return take(name, kept, await pinListing(kept.document.tools), { isFirst: false, identityChange: null });
    },
  };
}
