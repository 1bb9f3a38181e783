/**
 * The prompts, resources and templates of an MCP server with their reviews (`definition-review.ts`): pinned like tools, since models and users
 * read their texts. A resource is data, which comes and goes: a new one of a trusted server is in force at once if nothing in its texts requires
 * a review. The Catalog stores them; only those in force reach clients.
 */
import * as z from 'zod';
import { fold } from '../names/fold.ts';
import { quote } from '../names/names.ts';
import { canonicalJson, sha256Hex } from '../hash.ts';
import { limits } from '../limits/limits.ts';
import { isRecord, listOf, recordOf, stringOf } from '../json/wire-value.ts';
import type { OfferCounts } from '../servers/refresh-state.ts';
import type { ServerOffer, ServerOffers } from '../servers/server-state.ts';
import type { Warning } from '../problem.ts';
import { utf8Length } from '../text/utf8.ts';
import { diffRecords } from '../toolset/definition-diff.ts';
import type { HeldOffer } from '../triggers/callbacks/held-notice.ts';
import {
  DefinitionDecision,
  findingCodes,
  hasRejections,
  type Reviewed,
  reviewListed,
  reviewStateOf,
  showDecisions,
} from '../servers/definition-review.ts';
import { Finding, Hold, holdTexts } from '../tools/hold.ts';

export const OfferKind = z.enum(['prompt', 'resource', 'template']);
export type OfferKind = z.infer<typeof OfferKind>;

/** `offer`: as listed, cleaned. The pin covers `offerDefinition` of it. */
export type PinnedOffer = { pin: string; offer: ServerOffer };

/** `name`: of a prompt its name, of a resource its URI, of a template itself. */
export type StoredOffer = Reviewed<PinnedOffer> & { kind: OfferKind };

const lists = {
  prompt: { member: 'prompts', key: 'name', noun: 'prompt' },
  resource: { member: 'resources', key: 'uri', noun: 'resource' },
  template: { member: 'resourceTemplates', key: 'uriTemplate', noun: 'resource template' },
} as const satisfies Record<OfferKind, { member: keyof ServerOffers; key: string; noun: string }>;

export function offerNoun(kind: OfferKind): string {
  return lists[kind].noun;
}

/** Returns what an administrator reviews. Size, dates and icons change without one. */
export function offerDefinition(kind: OfferKind, offer: ServerOffer): Record<string, unknown> {
  const { title, description, mimeType, arguments: args } = offer;
  const own = { [lists[kind].key]: offer[lists[kind].key], name: offer.name, title, description, mimeType };
  return JSON.parse(JSON.stringify({ ...own, ...(kind === 'prompt' && { arguments: args }) })) as Record<string, unknown>;
}

/** `tools`: the names of the server's tools, which a prompt may name. `unread`: the lists that could not be read. */
export type OfferReview = {
  kept: readonly StoredOffer[];
  isFirst: boolean;
  identityChange: Finding | null;
  trusted: boolean;
  tools: readonly string[];
  unread?: readonly (keyof ServerOffers)[];
};

/** Merges a listing with what is known. */
export async function reviewOffers(
  listed: ServerOffers,
  { kept, isFirst, identityChange, trusted, tools, unread = [] }: OfferReview,
): Promise<StoredOffer[]> {
  const before = new Map(kept.map((offer) => [keyOf(offer), offer]));
  const known = new Set([...tools, ...listed.prompts.map(({ name }) => name)].map(fold));
  const after = new Map<string, StoredOffer>();
  for (const kind of OfferKind.options) {
    const { member, key } = lists[kind];
    for (const offer of listed[member] as readonly ServerOffer[]) {
      const name = stringOf(offer[key]);
      const id = keyOf({ kind, name });
      if (after.has(id)) continue;
      const pinned = { pin: await sha256Hex(canonicalJson(offerDefinition(kind, offer))), offer };
      const findings = await suspicionsIn(offer, known);
      const item = { listed: pinned, findings, isSuspicious: findings.length > 0 };
      const review = reviewListed(before.get(id), item, { isFirst, identityChange });
      const isData = trusted && kind !== 'prompt' && review.reason === 'new' && findings.length === 0;
      after.set(id, { kind, name, listed: pinned, ...review, ...(isData && { accepted: pinned, reason: null }) });
    }
  }
  const others = kept.filter((offer) => !after.has(keyOf(offer)));
  const isUnread = ({ kind }: StoredOffer): boolean => unread.includes(lists[kind].member);
  return [...after.values(), ...others.filter(isUnread), ...unlisted(others.filter((offer) => !isUnread(offer)))];
}

/**
 * Returns what stays known of offers that their server does not list: rejections, and what was accepted, for comparison when it lists them again.
 * `isGone`: the server was deleted, so only rejections count. At most as many as a server may list.
 */
export function unlisted(offers: readonly StoredOffer[], isGone = false): StoredOffer[] {
  const isRejection = ({ decisions }: StoredOffer): boolean => hasRejections(decisions);
  const accepted = isGone ? [] : offers.filter((offer) => offer.accepted !== null && !isRejection(offer));
  let room: number = limits.maxServerOffersBytes;
  return [...offers.filter(isRejection), ...accepted]
    .slice(0, limits.maxServerOffers)
    .map((offer) => ({ ...offer, listed: null, reason: null, findings: [] }))
    .filter((offer) => {
      room -= utf8Length(JSON.stringify(offer));
      return room >= 0;
    });
}

function keyOf({ kind, name }: Pick<StoredOffer, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/** Reads the texts of an offer as those of a tool with its arguments. */
async function suspicionsIn({ name, title, description, arguments: args }: ServerOffer, known: ReadonlySet<string>): Promise<Finding[]> {
  const parameters = listOf(args).filter(isRecord);
  const properties = Object.fromEntries(parameters.map((one) => [stringOf(one.name), { description: stringOf(one.description) }]));
  // Loaded when a server is listed, which most isolates never do.
  const { findSuspicions } = await import('./definition-findings.ts');
  const found = findSuspicions(
    {
      ...{ name: stringOf(name), description: stringOf(description), annotations: { title: stringOf(title) } },
      inputSchema: { type: 'object', properties },
    },
    known,
  );
  return found.map((finding) => ({
    ...finding,
    path: finding.path.replace('/annotations/', '/').replace('/inputSchema/properties/', '/arguments/'),
  }));
}

/** Returns what clients may be offered: the definitions in force, as they are listed now. */
export function offersInForce(stored: readonly StoredOffer[]): ServerOffers {
  const inForce = (kind: OfferKind): never[] =>
    // Grouped by kind when they were read (`mcp/client/discover.ts`), with the members that the types name.
    stored.flatMap((one) =>
      one.kind === kind && one.listed !== null && reviewStateOf(one) === 'ready' ? [one.listed.offer] : [],
    ) as never[];
  return { prompts: inForce('prompt'), resources: inForce('resource'), resourceTemplates: inForce('template') };
}

/** Returns the held ones as subscriptions are notified of them. */
export function heldOffers(stored: readonly StoredOffer[]): HeldOffer[] {
  return stored.flatMap((one) => {
    const { kind, name, listed, reason, findings } = one;
    if (reviewStateOf(one) !== 'held' || reason === null || listed === null) return [];
    return [{ kind, name, reason, refId: listed.pin, findings: findingCodes(findings), impact: null }];
  });
}

/** Returns what an administrator should know of a refresh: what is held, and why. */
export function heldOfferWarnings(stored: readonly StoredOffer[]): Warning[] {
  return stored.flatMap((one): Warning[] => {
    const { state, held, findings = [] } = showOffer(one);
    if (state !== 'held' || held === undefined) return [];
    const { noun, member } = lists[one.kind];
    const found = findings.map(({ path, message }) => ` ${path} ${message}.`).join('');
    return [
      {
        path: member,
        message: `the ${noun} ${quote(one.name)} is held, ${holdTexts[held.reason]}: clients do not get it until it is accepted.${found}`,
      },
    ];
  });
}

/** A prompt, resource or template as shown to administrators. */
export const ReviewedOffer = z
  .object({
    kind: OfferKind,
    name: z.string().meta({ description: 'Of a prompt its name, of a resource its URI, of a template itself.' }),
    state: z.enum(['ready', 'held', 'rejected', 'missing']),
    definition: z.record(z.string(), z.unknown()).meta({ description: 'The definition in force, else the listed one.' }),
    refId: z.string().meta({ description: 'SHA-256 of this definition.' }),
    held: Hold.optional(),
    findings: z.array(Finding).optional(),
    decisions: z.array(DefinitionDecision).optional(),
  })
  .meta({ id: 'ReviewedOffer' });
export type ReviewedOffer = z.infer<typeof ReviewedOffer>;

export function showOffer(stored: StoredOffer): ReviewedOffer {
  const { kind, name, accepted, listed, reason, findings, decisions } = stored;
  const shown = accepted ?? listed;
  const state = reviewStateOf(stored);
  const held = state === 'rejected' ? 'rejected' : reason;
  return {
    ...{ kind, name, state, definition: shown === null ? {} : offerDefinition(kind, shown.offer), refId: shown?.pin ?? '' },
    ...(listed !== null && held !== null && { held: { reason: held, refId: listed.pin, changes: changesOf(kind, accepted, listed) } }),
    ...(findings.length > 0 && { findings: [...findings] }),
    ...(decisions.length > 0 && { decisions: showDecisions(decisions) }),
  };
}

function changesOf(kind: OfferKind, accepted: PinnedOffer | null, listed: PinnedOffer): Hold['changes'] {
  return accepted === null
    ? []
    : diffRecords(recordOf(offerDefinition(kind, accepted.offer)), recordOf(offerDefinition(kind, listed.offer)));
}

export function countOffers(stored: readonly StoredOffer[]): OfferCounts {
  const { prompts, resources, resourceTemplates } = offersInForce(stored);
  const held = stored.filter((offer) => reviewStateOf(offer) === 'held').length;
  return { prompts: prompts.length, resources: resources.length, resourceTemplates: resourceTemplates.length, held };
}
