/**
 * Decides what a server's new listing means for its tools (contract §4, pins): which are in force, held for review, missing, or probably
 * renamed. Pure; the Catalog stores the result. `listing.ts` checks the definitions themselves.
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { hasRejections, rejectionOf, reviewListed, type DecidedBy } from '../servers/definition-review.ts';
import type { Finding } from '../tools/hold.ts';
import { isDeeperThan } from '../json/wire-value.ts';
import {
  definitionKey,
  toolStateOf,
  withoutAnnotations,
  type AcceptedDefinition,
  type StoredTool,
  type PinnedDefinition,
  canonicalOf,
  rawOf,
  shownDefinition,
  toServerTool,
} from './stored-tool.ts';
import { limits } from '../limits/limits.ts';
import type { OperationsByTool } from './listing.ts';
import { definitionPin } from '../tools/tool.ts';
import type { UpdatePolicy } from '../servers/server.ts';
import { createIsOfOther, takenUpdate, updatesId, type IsOfOther } from './definition-updates.ts';

/** One item of a listing with a unique name. */
export type PinnedItem = {
  /** `tools[i]`. */
  path: string;
  name: string;
  listed: PinnedDefinition | null;
  /** The hash of an item that is not a valid definition. */
  refused: string | null;
  findings: readonly Finding[];
  /** Held until an administrator reviews it. */
  isSuspicious: boolean;
};

export type PinnedListing = {
  items: PinnedItem[];
  /** Items without a usable name, and duplicates; skipped. */
  nameless: { path: string; name: string; findings: readonly Finding[] }[];
  /** Equal for listings with the same content in any order. */
  hash: string;
};

/** `decided`: the writer of the definitions, who also accepts findings that require no review; or `updates`, for the setting of the server. */
export type ListingUpdates = { policy: UpdatePolicy; decided: DecidedBy };

export type ListingOutcome = {
  /** All known tools, sorted by name. */
  tools: StoredTool[];
  /** The tools that changed. */
  changed: StoredTool[];
  /** The names (without the server) of tools to delete. */
  forgotten: string[];
  /** Whose changed definition is in force without a review. */
  updated: string[];
  added: string[];
  removed: string[];
  renames: { from: string; to: string }[];
};

/** Names that are printable and short enough for messages and paths. */
const showableName = /^[^\p{C}]{1,128}$/u;

/** Returns the items of a listing with their pins. `refused`: items that were read before (`readEchoedListing`). */
export async function pinListing(
  tools: readonly Record<string, unknown>[],
  {
    paths = [],
    refused = [],
    operations,
  }: { paths?: readonly string[]; refused?: readonly PinnedItem[]; operations?: OperationsByTool } = {},
): Promise<PinnedListing> {
  const items = new Map<string, PinnedItem>();
  const nameless: PinnedListing['nameless'] = [];
  // Loaded when a server is listed, which most isolates never do.
  const { readListing } = await import('./listing.ts');
  const read = readListing(tools, operations);
  const pins = await Promise.all(read.map(({ raw }, index) => (raw === null ? hashOfRefused(tools[index]) : definitionPin(raw))));
  for (const [index, { name, raw, definition, presentation, findings, verdict, ...place }] of read.entries()) {
    const path = paths[index] ?? place.path;
    const pin = pins[index] ?? '';
    const isDefinition = verdict !== 'refuse' && raw !== null && definition !== null;
    // The first item of a name counts, except that a usable definition takes precedence over an unusable one.
    const before = items.get(name);
    if (!showableName.test(name) || (before !== undefined && (before.listed !== null || !isDefinition))) {
      nameless.push({ path, name, findings });
      continue;
    }
    if (before !== undefined) nameless.push({ path: before.path, name, findings: before.findings });
    items.set(name, {
      path,
      name,
      listed: isDefinition
        ? { pin, definition, ...(canonicalJson(raw) !== canonicalJson(definition) && { raw }), ...(presentation && { presentation }) }
        : null,
      refused: isDefinition ? null : pin,
      findings,
      isSuspicious: verdict === 'hold',
    });
  }
  for (const item of refused) if (!items.has(item.name)) items.set(item.name, item);
  const sorted = [...items.values()].sort(byName);
  return { items: sorted, nameless, hash: await hashOf(sorted) };
}

/** Hashes an invalid item. Items too deep to traverse share one hash, so changes inside them are not noticed. */
async function hashOfRefused(tool: unknown): Promise<string> {
  return await sha256Hex(isDeeperThan(tool, limits.maxJsonDepth) ? 'too deep' : canonicalJson(tool));
}

function hashOf(items: readonly PinnedItem[]): Promise<string> {
  const shown = (listed: PinnedDefinition | null): unknown[] => (listed?.presentation === undefined ? [] : [listed.presentation]);
  return sha256Hex(canonicalJson(items.map(({ name, listed, refused }) => [name, listed?.pin ?? null, refused, ...shown(listed)])));
}

/**
 * Merges a listing with the known tools. `isFirst`: the server is new, so all its tools are accepted. `isNamed`: whether a toolset contains
 * the tool (name without the server); tools that are neither listed nor in a toolset are forgotten, unless they were rejected. `identityChange`: the
 * finding that the server changed its identity; its tools are then held until accepted. `updates`: which changes are in force without a
 * review, and who decided that.
 */
export function applyListing(request: {
  kept: readonly StoredTool[];
  items: readonly PinnedItem[];
  isFirst: boolean;
  isNamed: (name: string) => boolean;
  identityChange?: Finding | null;
  updates?: ListingUpdates;
}): ListingOutcome {
  const before = new Map(request.kept.map((tool) => [tool.name, tool]));
  const after = new Map<string, StoredTool>();
  const isOfOther = createIsOfOther(request.kept);
  for (const item of request.items) after.set(item.name, listedTool(before.get(item.name), item, { ...request, isOfOther }));
  const forgotten: string[] = [];
  for (const tool of request.kept) {
    if (after.has(tool.name)) continue;
    if (isRemembered(tool, request.isNamed)) after.set(tool.name, missingTool(tool));
    else forgotten.push(tool.name);
  }
  offerRenames(before, after);

  const tools = [...after.values()].sort(byName).map((tool) => {
    const known = before.get(tool.name);
    return known !== undefined && isSame(known, tool) ? known : tool;
  });
  return {
    tools,
    changed: tools.filter((tool) => before.get(tool.name) !== tool),
    forgotten,
    updated: tools.filter((tool) => isUpdated(before.get(tool.name), tool)).map(({ name }) => name),
    added: tools.filter((tool) => isListed(tool) && !isListed(before.get(tool.name))).map(({ name }) => name),
    removed: request.kept.filter((tool) => isListed(tool) && !isListed(after.get(tool.name))).map(({ name }) => name),
    renames: tools.flatMap(({ name, renamedTo }) => (renamedTo === null ? [] : [{ from: name, to: renamedTo }])),
  };
}

/** Whether a tool stays known while its server does not list it. */
export function isRemembered({ name, decisions }: StoredTool, isNamed: (name: string) => boolean): boolean {
  return isNamed(name) || hasRejections(decisions);
}

/**
 * Returns the tool as missing, because its server no longer lists it or was deleted. The accepted definition and the decisions remain for
 * comparison with a later tool of that name.
 */
export function missingTool({ name, accepted, decisions, renamedTo }: StoredTool): StoredTool {
  return { name, accepted: withoutAnnotations(accepted), listed: null, refused: null, reason: null, findings: [], decisions, renamedTo };
}

function listedTool(
  before: StoredTool | undefined,
  item: PinnedItem,
  options: { isFirst: boolean; identityChange?: Finding | null; updates?: ListingUpdates; isOfOther: IsOfOther },
): StoredTool {
  const { name, listed, refused } = item;
  const { updates, isOfOther, ...context } = options;
  const { policy = 'review', decided } = updates ?? {};
  const take = (accepted: AcceptedDefinition | null, definition: PinnedDefinition) => {
    if (decided?.by === updatesId && item.findings.length > 0) return null;
    return policy === 'compatible' && isOfOther(accepted, definition) ? null : takenUpdate(policy, accepted, definition);
  };
  const review = reviewListed<AcceptedDefinition>(before, item, { ...context, ...(updates && { updates: { ...updates, take } }) });
  // The pin is unchanged, but the rules that clean definitions for models may be newer than the stored result.
  const isSame = listed !== null && review.accepted?.pin === listed.pin;
  return {
    name,
    listed,
    refused,
    ...review,
    ...(isSame && { accepted: withAcceptedAnnotations(review.accepted, listed) }),
    renamedTo: null,
  };
}

/**
 * Returns the same definition, cleaned by this release's rules. After an identity change, accepting the tool does not restore accepted
 * annotations.
 */
function withAcceptedAnnotations(accepted: AcceptedDefinition | null, listed: PinnedDefinition): AcceptedDefinition {
  return accepted?.annotationsAccepted === true ? { ...listed, annotationsAccepted: true } : listed;
}

/**
 * Offers a missing tool and a new tool with an equal definition as a rename. Only unique pairs are offered, since any other choice would be
 * a guess. An offered rename remains while its tool is listed.
 */
function offerRenames(before: ReadonlyMap<string, StoredTool>, after: Map<string, StoredTool>): void {
  const gone = [...after.values()].filter((tool) => !isListed(tool) && tool.refused === null);
  if (gone.length === 0) return;
  const offered = new Set(gone.map(({ renamedTo }) => renamedTo));
  const fresh = [...after.values()].flatMap((tool) => {
    const isFresh = (before.get(tool.name)?.accepted ?? null) === null || offered.has(tool.name);
    return tool.listed !== null && isFresh && toolStateOf(tool) !== 'rejected'
      ? [{ name: tool.name, key: definitionKey(tool.listed) }]
      : [];
  });
  const arrivals = Map.groupBy(fresh, ({ key }) => key);
  const departures = Map.groupBy(gone, ({ accepted, decisions }) =>
    accepted === null || rejectionOf(decisions, accepted.pin) !== null ? null : definitionKey(accepted),
  );
  for (const [shape, from] of departures) {
    const to = (shape === null ? undefined : arrivals.get(shape)) ?? [];
    const only = from.length === 1 && to.length === 1 ? (to[0]?.name ?? null) : null;
    for (const tool of from) {
      const earlier = to.find(({ name }) => name === tool.renamedTo)?.name ?? null;
      after.set(tool.name, { ...tool, renamedTo: earlier ?? only });
    }
  }
}

function isUpdated(before: StoredTool | undefined, { accepted }: StoredTool): boolean {
  return before?.accepted != null && accepted !== null && before.accepted.pin !== accepted.pin;
}

function isListed(tool: StoredTool | undefined): boolean {
  return tool !== undefined && toolStateOf(tool) !== 'missing' && toolStateOf(tool) !== 'refused';
}

function isSame({ decisions, ...one }: StoredTool, { decisions: others, ...other }: StoredTool): boolean {
  return decisions === others && canonicalJson(one) === canonicalJson(other);
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}

// A server document that a client read with GET and sends back with PUT. GET shows the definition in force, cleaned; treated as a new
// listing it would change half the tools. An item that equals what GET showed therefore stands for the currently listed tool.

/** `paths`: the position of each of `tools` in the document. `refused`: the items that are still not valid definitions. */
export type SubmittedListing = { tools: Record<string, unknown>[]; paths: string[]; refused: PinnedItem[] };

export function readEchoedListing(
  server: string,
  given: readonly Record<string, unknown>[],
  kept: readonly StoredTool[],
): SubmittedListing {
  const byName = new Map(kept.map((tool) => [tool.name, tool]));
  const listing: SubmittedListing = { tools: [], paths: [], refused: [] };
  for (const [index, item] of given.entries()) {
    const path = `tools[${index}]`;
    const known = typeof item.name === 'string' ? byName.get(item.name) : undefined;
    if (known === undefined || !isAsShown(server, item, known)) {
      listing.tools.push(item);
      listing.paths.push(path);
    } else if (known.listed !== null) {
      const raw = rawOf(known.listed);
      listing.tools.push({ ...raw, ...(raw.listedAliases && { aliases: raw.listedAliases }) });
      listing.paths.push(path);
    } else if (known.refused !== null) {
      const { name, refused, findings } = known;
      listing.refused.push({ path, name, listed: null, refused, findings, isSuspicious: false });
    }
    // Otherwise the tool is missing and remains so.
  }
  return listing;
}

function isAsShown(server: string, item: Record<string, unknown>, known: StoredTool): boolean {
  // Only items that GET returned have canonical names, states and pins.
  if (item.canonical !== canonicalOf(server, known.name) || typeof item.state !== 'string' || typeof item.refId !== 'string') return false;
  if (item.refId !== (shownDefinition(known)?.pin ?? '')) return false;
  return definitionText(item) === definitionText(toServerTool(server, known));
}

function definitionText({ name, description, inputSchema, outputSchema, annotations, aliases }: Record<string, unknown>): string {
  return canonicalJson({ name, description, inputSchema, outputSchema, annotations, aliases });
}
