/**
 * How a server that lists its tools itself is doing, from the write of its document on, and what follows from it: who may read it and when.
 * Pure: a state, a moment, the next state. Stored by the Catalog (`catalog/server-state.ts`); what a reading brought for its tools is
 * `take-listing.ts`.
 */
import { cleanData } from '../foreign-data.ts';
import { isDeeperThan } from '../json-depth.ts';
import { limits } from '../limits.ts';
import { isSeen } from '../listing/listing-text.ts';
import type { Discovery, Offer, ServerConnection, ServerHealth, ServerOffers } from './server-state.ts';
import { firstWarnings } from '../warning.ts';
import type { Warning } from '../warning.ts';

/** `asked`: a person did. `changed`: the server said so. `stale`: its time is over. */
export type RefreshReason = 'asked' | 'changed' | 'stale';

/** Times in milliseconds since the epoch; null: never. */
export type ServerState = {
  /** Of the document that all this is about. */
  version: number;
  status: ServerHealth['status'];
  reason: string | null;
  connection: ServerConnection | null;
  checkedAt: number | null;
  listedAt: number | null;
  staleAt: number | null;
  /** Somebody reads it. */
  leasedUntil: number | null;
  /** It said that its list is another one while somebody was reading. */
  hasChanged: boolean;
  /** In a row. */
  failures: number;
  /** How many it offers besides tools. */
  offered: OfferCounts;
};

export type OfferCounts = Record<keyof ServerOffers, number>;

/** Written now, and asked by nobody yet: whoever meets it reads it. */
export function freshState(version: number, now: number): ServerState {
  return {
    version,
    status: 'unknown',
    reason: null,
    connection: null,
    checkedAt: null,
    listedAt: null,
    staleAt: now,
    leasedUntil: null,
    hasChanged: false,
    failures: 0,
    offered: { prompts: 0, resources: 0, resourceTemplates: 0 },
  };
}

/**
 * Its document is another one: it is read anew, whatever was the matter before. What was listed before is still what changes are told from.
 * `isSamePlace`: a server that was moved may call itself what it likes; one that stays where it is may not become another unseen.
 */
export function rewritten(before: ServerState | null, version: number, isSamePlace: boolean, now: number): ServerState {
  const fresh = freshState(version, now);
  if (before === null) return fresh;
  const { connection, offered, listedAt } = before;
  return { ...fresh, listedAt, ...(isSamePlace && { connection, offered }) };
}

export type Leave = { claimed: true; state: ServerState; until: number } | { claimed: false; retryAfterMs: number; state: ServerState };

/** Leave to read it: one has it at a time, for `limits.refreshLeaseMs`. */
export function askLeave(state: ServerState, reason: RefreshReason, now: number): Leave {
  const from = notBefore(state, reason, now);
  const until = now + limits.refreshLeaseMs;
  if (from <= now) return { claimed: true, until, state: { ...state, leasedUntil: until, hasChanged: false } };
  return { claimed: false, retryAfterMs: from - now, state: reason === 'changed' ? noted(state, from) : state };
}

/** A leave counts, also after its time, until another one is given or its reading is taken: what is read late is no older than what there is. */
export function hasLeave(state: ServerState, leave: { version: number; until: number }): boolean {
  return state.version === leave.version && state.leasedUntil === leave.until;
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
      const next = checkedAt === null ? now : checkedAt + limits.minRefreshIntervalMs;
      return failures > 0 ? Math.max(next, staleAt ?? now) : next;
    }
    default:
      return reason satisfies never;
  }
}

/** What it said is not forgotten for coming too soon: it is read again as soon as somebody may. */
function noted(state: ServerState, from: number): ServerState {
  const staleAt = Math.min(state.staleAt ?? from, from);
  // Also where the reader never comes back.
  return state.leasedUntil === from ? { ...state, hasChanged: true, staleAt } : { ...state, staleAt };
}

/** It was read. `canChange`: false of a document that was given whole, which is what it is. */
export function wasRead(
  { version, hasChanged }: ServerState,
  read: { connection: ServerConnection | null; offered: OfferCounts; ttlMs: number | null; canChange: boolean },
  now: number,
): ServerState {
  const { connection, offered, ttlMs, canChange } = read;
  const heldMs = Math.min(Math.max(ttlMs ?? limits.listingTtlMs, limits.minListingTtlMs), limits.maxListingTtlMs);
  const staleAt = !canChange ? null : now + (hasChanged ? limits.minRefreshIntervalMs : heldMs);
  return { ...freshState(version, now), status: 'ok', connection, offered, checkedAt: now, listedAt: now, staleAt };
}

/** It could not be read: what was read before stays, and it is asked again later and later. */
export function couldNotBeRead(
  state: ServerState,
  { status, reason }: { status: 'failing' | 'unauthorized'; reason: string },
  now: number,
): ServerState {
  // The exponent is bounded, or the number is none after a while.
  const backoffMs = Math.min(limits.minRefreshIntervalMs * 2 ** Math.min(state.failures, 20), limits.maxRefreshBackoffMs);
  return {
    ...state,
    status,
    reason: reason.slice(0, limits.maxErrorMessageLength).toWellFormed(),
    checkedAt: now,
    staleAt: now + backoffMs,
    leasedUntil: null,
    failures: state.failures + 1,
  };
}

export function healthOf({ status, reason, checkedAt, listedAt, failures }: ServerState): ServerHealth {
  return { status, ...(reason !== null && { reason }), checkedAt: timeText(checkedAt), listedAt: timeText(listedAt), failures };
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** What was read, as far as there is room for it; what is left out is told. */
export function boundedDiscovery(discovery: Discovery, known: ReadonlySet<string>): { discovery: Discovery; warnings: Warning[] } {
  const warnings = firstWarnings(discovery.warnings ?? [], 'warnings', limits.maxToldIssues);
  const tools = boundedTools(discovery.tools, known, warnings);
  const offers = boundedOffers(discovery.offers, warnings);
  return { discovery: { ...discovery, tools, offers, connection: boundedConnection(discovery.connection) }, warnings };
}

/** Of too many, those that are known already go first: a server that lists a flood does not wash its own tools away. */
function boundedTools(tools: Discovery['tools'], known: ReadonlySet<string>, warnings: Warning[]): Discovery['tools'] {
  if (tools.length <= limits.maxServerTools) return tools;
  const isKnown = ({ name }: Record<string, unknown>): boolean => typeof name === 'string' && known.has(name);
  const message = `the server lists ${tools.length} tools, of which ${limits.maxServerTools} are taken, those that were known before first`;
  warnings.push({ path: 'tools', message });
  return [...tools.filter(isKnown), ...tools.filter((tool) => !isKnown(tool))].slice(0, limits.maxServerTools);
}

function boundedOffers(offers: ServerOffers, warnings: Warning[]): ServerOffers {
  let room = limits.maxServerOffersBytes;
  const bounded = <T extends Offer>(kind: keyof ServerOffers, given: readonly T[]): T[] => {
    const items = given.filter(isTold).map(cleanOffer);
    if (items.length < given.length)
      warnings.push({
        path: kind,
        message: `${given.length - items.length} are left out: they nest too deep, or their names hold what cannot be seen`,
      });
    const kept = items.slice(0, limits.maxServerOffers).filter((item) => {
      room -= JSON.stringify(item).length;
      return room >= 0;
    });
    if (kept.length < items.length) {
      const bounds = `at most ${limits.maxServerOffers}, and ${limits.maxServerOffersBytes} characters of all that it offers`;
      warnings.push({ path: kind, message: `the server lists ${items.length}, of which ${kept.length} are kept: ${bounds}` });
    }
    return kept;
  };
  return {
    prompts: bounded('prompts', offers.prompts),
    resources: bounded('resources', offers.resources),
    resourceTemplates: bounded('resourceTemplates', offers.resourceTemplates),
  };
}

/** By its name it is asked for, so that stays as it came, or nobody is told of it. */
function isTold(offer: Offer): boolean {
  const { name, uri, uriTemplate } = offer;
  return [name, uri, uriTemplate].every((text) => typeof text !== 'string' || isSeen(text)) && !isDeeperThan(offer, limits.maxJsonDepth);
}

/** As definitions of tools are told: without what cannot be seen, and without pictures, which would be fetched from wherever they say. */
function cleanOffer<T extends Offer>({ icons: _icons, ...offer }: T): T {
  return cleanData(offer) as Offer as T; // Its members are optional but for its names, which are as they were.
}

/** Up to a size: it is read with each call of its tools. What it says of itself is read by people. */
function boundedConnection(connection: ServerConnection | null): ServerConnection | null {
  if (connection === null) return null;
  const { capabilities, instructions, ...rest } = cleanData(connection);
  const isSmall = JSON.stringify(capabilities).length <= limits.maxServerInstructionBytes;
  return {
    ...rest,
    capabilities: isSmall ? capabilities : {},
    ...(instructions !== undefined && { instructions: instructions.slice(0, limits.maxServerInstructionBytes).toWellFormed() }),
  };
}

export function countOffers({ prompts, resources, resourceTemplates }: ServerOffers): OfferCounts {
  return { prompts: prompts.length, resources: resources.length, resourceTemplates: resourceTemplates.length };
}
