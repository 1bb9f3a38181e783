/**
 * The refresh state of a server that lists its tools itself: health, staleness and the claim for the next refresh. Pure: state and time in,
 * next state out. Stored by the Catalog (`objects/catalog/servers/server-state.ts`). `apply-listing.ts` handles the listed tools.
 */
import { Icons, inlineIcons } from '../tools/tool.ts';
import { cutToBytes, cutToLength, utf8Length } from '../text/utf8.ts';
import { isDeeperThan } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { hasNoHiddenCharacters } from '../tools/listing-text.ts';
import type { Discovery, ServerOffer, ServerConnection, ServerHealth, ServerOffers } from './server-state.ts';
import { firstWarnings, type Warning } from '../problem.ts';
import { backoffMs } from '../limits/backoff.ts';

/** A listing is refreshed after this, unless the server sets a TTL (`ttlMs`), within these bounds. */
export const listingTtlMs = 5 * 60_000;
export const minListingTtlMs = 10_000;
export const maxListingTtlMs = 24 * 60 * 60_000;
export const maxRefreshBackoffMs = 15 * 60_000;

/** Each call reads the state. */
const maxStoredWarnings = 100;

/** `asked`: requested by an administrator. `changed`: the server sent a change notification. `stale`: the TTL expired. */
export type RefreshReason = 'asked' | 'changed' | 'stale';

/** Times are milliseconds since the epoch; null: never. */
export type RefreshState = {
  /** The version of the document that this state belongs to. */
  version: number;
  status: Exclude<ServerHealth['status'], 'degraded'>;
  reason: string | null;
  connection: ServerConnection | null;
  checkedAt: number | null;
  listedAt: number | null;
  staleAt: number | null;
  /** The end of the current refresh claim; null: no refresh is running. */
  claimedUntil: number | null;
  /** The server reported a change during a refresh. */
  hasChanged: boolean;
  /** Consecutive failures. */
  failures: number;
  /** The number of offers besides tools. */
  offered: OfferCounts;
  /** Consecutive refreshes that found other definitions than before. Absent: 0. */
  changes?: number;
  /** It refused the last listing, and a user can sign in (OAuth). Absent: unknown. */
  offersSignIn?: true;
  /** An administrator changed which operations an OpenAPI server has: the next listing is accepted. */
  isOwn?: boolean;
  /** The lists of offers that could not be read at the last refresh, and why. Absent: none. */
  unread?: string;
  /** What the last listing reported. Absent: nothing. */
  warnings?: readonly Warning[];
  /** The last call that failed because of the server. Absent: none since an administrator refreshed it, or since the listing expired. */
  fault?: ServerFault;
};

/** `reason`: redacted, for the administrator. `at`: milliseconds since the epoch. */
export type ServerFault = { reason: string; at: number };

/** `held`: those that are not offered until an administrator accepts them. */
export type OfferCounts = Record<keyof ServerOffers | 'held', number>;

/** So many changes in a row cause no delay. After more, a server that changes all the time is refreshed ever less often. */
const freeChanges = 3;

function changeIntervalMs({ changes = 0 }: Pick<RefreshState, 'changes'>): number {
  return backoffMs({ firstMs: limits.minRefreshIntervalMs, maxMs: maxRefreshBackoffMs }, Math.max(1, changes - freeChanges));
}

/** The state of a new document: stale, so that the first use refreshes it. */
export function initialState(version: number, now: number): RefreshState {
  return {
    version,
    status: 'unknown',
    reason: null,
    connection: null,
    checkedAt: null,
    listedAt: null,
    staleAt: now,
    claimedUntil: null,
    hasChanged: false,
    failures: 0,
    offered: { prompts: 0, resources: 0, resourceTemplates: 0, held: 0 },
  };
}

/**
 * Returns the state after a document change: the server is refreshed regardless of earlier failures; the previous listing remains the base
 * for changes.
 * `isSamePlace`: at a new URL the server may have any identity; at the same URL an identity change is still detected.
 */
export function afterDocumentChange(
  before: RefreshState | null,
  version: number,
  { isSamePlace, isOwn }: { isSamePlace: boolean; isOwn: boolean },
  now: number,
): RefreshState {
  const fresh = initialState(version, now);
  if (before === null) return fresh;
  const { connection, offered, listedAt } = before;
  const same = { connection, offered, ...signInOf(before) };
  return { ...fresh, listedAt, ...(isSamePlace && same), ...(isOwn && { isOwn }) };
}

function signInOf({ offersSignIn }: Pick<RefreshState, 'offersSignIn'>): Pick<RefreshState, 'offersSignIn'> {
  return offersSignIn === true ? { offersSignIn } : {};
}

export type ClaimResult =
  | { claimed: true; state: RefreshState; until: number }
  | { claimed: false; retryAfterMs: number; state: RefreshState };

/** Grants the claim for one refresh; there is at most one, for `limits.refreshClaimMs`. An administrator's refresh clears the fault. */
export function requestClaim(state: RefreshState, reason: RefreshReason, now: number): ClaimResult {
  const from = notBefore(state, reason, now);
  const until = now + limits.refreshClaimMs;
  const { fault, ...rest } = state;
  const kept = reason === 'asked' || fault === undefined ? rest : state;
  if (from <= now) return { claimed: true, until, state: { ...kept, claimedUntil: until, hasChanged: false } };
  return { claimed: false, retryAfterMs: from - now, state: reason === 'changed' ? noted(state, from) : state };
}

/**
 * Returns whether the claim is still valid. It remains valid after its end until another claim is granted or its refresh is stored, since a
 * late listing is not older than the stored one.
 */
export function holdsClaim(state: RefreshState, leave: { version: number; until: number }): boolean {
  return state.version === leave.version && state.claimedUntil === leave.until;
}

/** The state after a call that failed because of the server. */
export function withFault(state: RefreshState, reason: string, now: number): RefreshState {
  return { ...state, fault: { reason: reason.slice(0, limits.maxErrorMessageLength).toWellFormed(), at: now } };
}

/** Returns when a refresh for this reason may start. */
function notBefore({ claimedUntil, staleAt, checkedAt, failures, changes }: RefreshState, reason: RefreshReason, now: number): number {
  if (claimedUntil !== null && claimedUntil > now) return claimedUntil;
  switch (reason) {
    case 'asked':
      return now;
    case 'stale':
      return staleAt ?? now + maxListingTtlMs;
    case 'changed': {
      const next = checkedAt === null ? now : checkedAt + changeIntervalMs({ changes });
      return failures > 0 ? Math.max(next, staleAt ?? now) : next;
    }
    default:
      return reason satisfies never;
  }
}

/** Records a change notification that came too early; the server is refreshed as soon as allowed. */
function noted(state: RefreshState, from: number): RefreshState {
  const staleAt = Math.min(state.staleAt ?? from, from);
  // Also covers a refresh that never finishes.
  return state.claimedUntil === from ? { ...state, hasChanged: true, staleAt } : { ...state, staleAt };
}

/**
 * The state after a successful refresh. `canChange`: false for an inline document, which never becomes stale. `isOther`: it found other
 * definitions than before. A server that can be listed may still fail in calls, so a recent fault stays.
 */
export function afterRefresh(
  { version, hasChanged, changes: before = 0, fault, ...state }: RefreshState,
  read: Pick<RefreshState, 'connection' | 'offered' | 'unread' | 'warnings'> & {
    ttlMs: number | null;
    canChange: boolean;
    isOther: boolean;
  },
  now: number,
): RefreshState {
  const { connection, offered, ttlMs, canChange, isOther, unread, warnings = [] } = read;
  const isRecent = fault !== undefined && now - fault.at < listingTtlMs;
  const changes = isOther ? before + 1 : 0;
  const heldMs = Math.min(Math.max(ttlMs ?? listingTtlMs, minListingTtlMs), maxListingTtlMs);
  const intervalMs = changeIntervalMs({ changes });
  const staleAt = !canChange ? null : now + (hasChanged ? intervalMs : Math.max(heldMs, intervalMs));
  const reported = warnings.length > 0 && { warnings: firstWarnings(warnings, 'warnings', maxStoredWarnings) };
  const found = {
    ...signInOf(state),
    connection,
    offered,
    ...(unread !== undefined && { unread }),
    ...reported,
    ...(isRecent && { fault }),
  };
  return { ...initialState(version, now), ...found, status: 'ok', checkedAt: now, listedAt: now, staleAt, changes };
}

/** The state after a failed refresh: keeps the last listing and backs off. */
export function afterFailedRefresh(
  state: RefreshState,
  { status, reason, signIn }: { status: 'failing' | 'unauthorized'; reason: string; signIn?: true },
  now: number,
): RefreshState {
  const failures = state.failures + 1;
  return {
    ...state,
    ...(signIn === true && { offersSignIn: signIn }),
    status,
    reason: cutToLength(reason, limits.maxErrorMessageLength).toWellFormed(),
    checkedAt: now,
    staleAt: now + backoffMs({ firstMs: limits.minRefreshIntervalMs, maxMs: maxRefreshBackoffMs }, failures),
    claimedUntil: null,
    failures,
  };
}

/** `held`: its tools that cannot be called until an administrator accepts them. */
export function healthOf({ checkedAt, listedAt, failures, ...state }: RefreshState, held: number): ServerHealth {
  const lacks = state.status === 'ok' ? lacksOf(state, held) : [];
  const status = lacks.length > 0 ? 'degraded' : state.status;
  const reason = lacks.length > 0 ? lacks.join(' ') : state.reason;
  const signIn = status === 'unauthorized' && state.offersSignIn === true ? { signIn: true as const } : {};
  return { status, ...(reason !== null && { reason }), ...signIn, checkedAt: timeText(checkedAt), listedAt: timeText(listedAt), failures };
}

/** What GET shows of the state beside the document. `held` as for `healthOf`. */
export function shownState(state: RefreshState, held: number) {
  const { connection, offered: offers, warnings } = state;
  return { health: healthOf(state, held), ...(connection !== null && { connection }), offers, ...(warnings && { warnings }) };
}

/** What does not work at a server whose tools could be listed. */
function lacksOf({ offered, unread, fault }: Pick<RefreshState, 'offered' | 'unread' | 'fault'>, held: number): string[] {
  const waiting = held + offered.held;
  return [
    ...(waiting > 0 ? [`${waiting} held: review and accept what changed.`] : []),
    ...(unread === undefined ? [] : [unread]),
    ...(fault === undefined ? [] : [`A call failed at ${timeText(fault.at)}: ${fault.reason}`]),
  ];
}

/** Describes the lists that could not be read. */
export function unreadText({ unread = [], warnings = [] }: Pick<Discovery, 'unread' | 'warnings'>): Pick<RefreshState, 'unread'> {
  if (unread.length === 0) return {};
  const isUnread = ({ path }: Warning): boolean => unread.some((list) => list === path);
  const text = warnings.filter(isUnread).map(({ path, message }) => `Its ${path} ${message}`);
  return { unread: text.join(' ').slice(0, limits.maxErrorMessageLength).toWellFormed() };
}

function timeText(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Bounds what a refresh found, with warnings about what was dropped. */
export function boundedDiscovery(discovery: Discovery, known: ReadonlySet<string>): { discovery: Discovery; warnings: Warning[] } {
  const warnings = firstWarnings(discovery.warnings ?? [], 'warnings', limits.maxReportedIssues);
  const tools = boundedTools(discovery.tools, known, warnings);
  const offers = boundedOffers(discovery.offers, warnings);
  return { discovery: { ...discovery, tools, offers, connection: boundedConnection(discovery.connection) }, warnings };
}

/** If there are too many tools, known ones take precedence, so that a server cannot displace its own tools with a flood. */
function boundedTools(tools: Discovery['tools'], known: ReadonlySet<string>, warnings: Warning[]): Discovery['tools'] {
  if (tools.length <= limits.maxServerTools) return tools;
  const isKnown = ({ name }: Record<string, unknown>): boolean => typeof name === 'string' && known.has(name);
  const message = `the server lists ${tools.length} tools, but only ${limits.maxServerTools} are used; known tools take precedence`;
  warnings.push({ path: 'tools', message });
  return [...tools.filter(isKnown), ...tools.filter((tool) => !isKnown(tool))].slice(0, limits.maxServerTools);
}

function boundedOffers(offers: ServerOffers, warnings: Warning[]): ServerOffers {
  let room = limits.maxServerOffersBytes;
  const bounded = <T extends ServerOffer>(kind: keyof ServerOffers, given: readonly T[]): T[] => {
    const items = given.filter(hasValidName).map(withInlineIcons);
    if (items.length < given.length)
      warnings.push({
        path: kind,
        message: `${given.length - items.length} are skipped: they nest too deep, or their names contain invisible characters`,
      });
    const kept = items.slice(0, limits.maxServerOffers).filter((item) => {
      room -= utf8Length(JSON.stringify(item));
      return room >= 0;
    });
    if (kept.length < items.length) {
      const bounds = `at most ${limits.maxServerOffers}, and ${limits.maxServerOffersBytes} bytes in total`;
      warnings.push({ path: kind, message: `the server lists ${items.length}, but only ${kept.length} are used: ${bounds}` });
    }
    return kept;
  };
  return {
    prompts: bounded('prompts', offers.prompts),
    resources: bounded('resources', offers.resources),
    resourceTemplates: bounded('resourceTemplates', offers.resourceTemplates),
  };
}

/** Clients request offers by name, so names are sent unchanged; an offer with an invalid name is skipped. */
function hasValidName(offer: ServerOffer): boolean {
  const { name, uri, uriTemplate } = offer;
  return (
    [name, uri, uriTemplate].every((text) => typeof text !== 'string' || hasNoHiddenCharacters(text)) &&
    !isDeeperThan(offer, limits.maxJsonDepth)
  );
}

/** Removes icons that clients would fetch from a URL. */
function withInlineIcons<T extends ServerOffer>({ icons, ...offer }: T): T {
  const inline = inlineIcons(Icons.safeParse(icons).data);
  return { ...offer, ...(inline !== undefined && { icons: inline }) } as ServerOffer as T; // All members except the names are optional, and the names are unchanged.
}

/** Bounds the size, because each call of the server's tools reads it. Administrators read what the server says about itself. */
function boundedConnection(connection: ServerConnection | null): ServerConnection | null {
  if (connection === null) return null;
  const { capabilities, instructions, ...rest } = connection;
  const isSmall = utf8Length(JSON.stringify(capabilities)) <= limits.maxServerInstructionBytes;
  return {
    ...rest,
    capabilities: isSmall ? capabilities : {},
    ...(instructions !== undefined && { instructions: cutToBytes(instructions, limits.maxServerInstructionBytes).toWellFormed() }),
  };
}
