/** The health of the fake catalog's servers that list their tools themselves: in memory, by the product's rules (`core/servers/refresh-state.ts`). */
import { Problem } from '../../src/core/problem.ts';
import type { ListingReport, Server, ServerAccess } from '../../src/core/servers/server.ts';
import { identityFinding, identityWarning } from '../../src/core/servers/server-identity.ts';
import {
  requestLease,
  boundedDiscovery,
  afterFailedRefresh,
  initialState,
  holdsLease,
  healthOf,
  afterDocumentChange,
  afterRefresh,
  type RefreshReason,
  type RefreshState,
} from '../../src/core/servers/refresh-state.ts';
import { decideAboutOffer, type OfferDecision } from '../../src/core/listing/decide-offer.ts';
import {
  countOffers,
  offersInForce,
  heldOfferWarnings,
  type ReviewedOffer,
  reviewOffers,
  showOffer,
  type StoredOffer,
  unlisted,
} from '../../src/core/listing/stored-offer.ts';
import type { Discovery, ServerOffers } from '../../src/core/servers/server-state.ts';
import type { RefreshLease, RefreshClaim, RefreshFailure } from '../../src/ports/catalog.ts';
import type { fakeServerTools } from './server-tools.ts';

/** A server's current document, and its version. */
type Known = { document: Server; version: number };

export function fakeServerLife(options: {
  now(): number;
  /** Throws `not_found`. */
  server(name: string): Known;
  access(name: string): Promise<ServerAccess>;
  tools: ReturnType<typeof fakeServerTools>;
}) {
  const { now, server, access, tools } = options;
  const states = new Map<string, RefreshState>();
  const offers = new Map<string, readonly StoredOffer[]>();
  const stored = (name: string): readonly StoredOffer[] => offers.get(name) ?? [];
  const leave = (name: string, isGone: boolean): void => void offers.set(name, unlisted(stored(name), isGone));

  return {
    state: (name: string): RefreshState | null => states.get(name) ?? null,
    offers: (name: string): ServerOffers => offersInForce(stored(name)),
    reviewed: (name: string): ReviewedOffer[] => stored(name).map(showOffer),
    decide: (name: string, decision: OfferDecision): ReviewedOffer => {
      const decided = decideAboutOffer(stored(name), decision, { by: 'root', at: now() });
      offers.set(name, decided.stored);
      return showOffer(decided.offer);
    },
    /** What GET shows beside its document. */
    shown: (name: string): Record<string, unknown> => {
      const state = states.get(name);
      if (state === undefined) return {};
      return { health: healthOf(state), ...(state.connection !== null && { connection: state.connection }), offers: state.offered };
    },
    wrote: (name: string, { document, version }: Known, before: Known | null): void => {
      if (document.kind === 'static') {
        states.delete(name);
        leave(name, true);
        return;
      }
      const isSamePlace = before?.document.kind === document.kind && before.document.url === document.url;
      if (!isSamePlace) leave(name, false);
      const state = afterDocumentChange(states.get(name) ?? null, version, isSamePlace, now());
      states.set(name, { ...state, listedAt: state.listedAt ?? (before?.document.kind === 'static' ? now() : null) });
    },
    removed: (name: string): void => {
      states.delete(name);
      leave(name, true);
    },
    claim: async (name: string, reason: RefreshReason): Promise<RefreshClaim> => {
      const { document, version } = server(name);
      if (document.kind !== 'static') {
        const asked = requestLease(states.get(name) ?? initialState(version, now()), reason, now());
        states.set(name, asked.state);
        if (!asked.claimed) return { claimed: false, retryAfterMs: asked.retryAfterMs };
        return { claimed: true, server: await access(name), lease: { version, until: asked.until } };
      }
      return { claimed: true, server: await access(name), lease: { version, until: 0 } };
    },
    takeDiscovery: async (name: string, lease: RefreshLease, read: Discovery): Promise<ListingReport> => {
      const known = server(name);
      const { version } = lease;
      if (known.version !== version || known.document.kind === 'static') throw new Problem('conflict', `"${name}" was written anew.`);
      const before = states.get(name);
      if (before === undefined || !holdsLease(before, lease)) throw new Problem('conflict', `Another reader has read "${name}".`);
      const { discovery, warnings } = boundedDiscovery(read, tools.names(name));
      const { connection, ttlMs } = discovery;
      const stranger = identityFinding(before.connection, connection);
      const report = await tools.takeDiscovery(name, discovery, { isFirst: before.listedAt === null, stranger });
      const reviewed = await reviewOffers(discovery.offers, {
        ...{ kept: stored(name), isFirst: before.listedAt === null, stranger, trusted: known.document.trusted === true },
        tools: discovery.tools.map((tool) => String(tool.name)),
        ...(discovery.unread && { unread: discovery.unread }),
      });
      offers.set(name, reviewed);
      const canChange = known.document.kind !== 'openapi' || known.document.document === undefined;
      const reading = { connection, offered: countOffers(reviewed), ttlMs, canChange };
      states.set(name, { ...afterRefresh(states.get(name) ?? before, reading, now()), version });
      return { ...report, warnings: [...warnings, ...identityWarning(stranger), ...report.warnings, ...heldOfferWarnings(reviewed)] };
    },
    takeFailure: (name: string, leave: RefreshLease, failure: RefreshFailure): void => {
      const state = states.get(name);
      if (server(name).version !== leave.version || state === undefined || !holdsLease(state, leave)) return;
      states.set(name, afterFailedRefresh(state, failure, now()));
    },
  };
}
