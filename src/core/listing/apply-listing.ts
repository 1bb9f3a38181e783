/**
 * Decides what a server's new listing means for its tools (contract §4, pins): which are in force, held for review, missing, or probably
 * renamed. Pure; the Catalog stores the result. `pin-listing.ts` reads the listing.
 */
import { aliasName } from '../names/toolset-alias.ts';
import { canonicalJson } from '../hash.ts';
import { rejectionOf, reviewListed, updatesId, type DecidedBy } from '../servers/definition-review.ts';
import type { UpdatePolicy } from '../servers/server.ts';
import type { Finding } from '../tools/hold.ts';
import { createIsOfOther, takenUpdate, type IsOfOther } from './definition-updates.ts';
import { byToolName, type PinnedItem } from './pin-listing.ts';
import {
  definitionKey,
  isRemembered,
  missingTool,
  toolStateOf,
  type AcceptedDefinition,
  type PinnedDefinition,
  type StoredTool,
} from './stored-tool.ts';

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

  const tools = [...after.values()].sort(byToolName).map((tool) => {
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
 * Offers a missing tool and a tool with an equal definition that is new, or has the name of the missing one as an alias, as a rename. Only
 * unique pairs are offered, since any other choice would be a guess. An offered rename remains while its tool is listed.
 */
function offerRenames(before: ReadonlyMap<string, StoredTool>, after: Map<string, StoredTool>): void {
  const gone = [...after.values()].filter((tool) => !isListed(tool) && tool.refused === null);
  if (gone.length === 0) return;
  const offered = new Set(gone.map(({ renamedTo }) => renamedTo));
  const names = new Set<string>(gone.map(({ name }) => name));
  const fresh = [...after.values()].flatMap((tool) => {
    const isNamed = tool.listed?.definition.listedAliases?.some((alias) => names.has(aliasName(alias))) === true;
    const isFresh = isNamed || (before.get(tool.name)?.accepted ?? null) === null || offered.has(tool.name);
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

/** Returns the warning about names in a server's prices that the server does not list. */
export function unlistedPrices(price: unknown, listed: readonly { name: string }[]): { path: string; message: string }[] {
  if (typeof price !== 'object' || price === null) return [];
  const names = new Set(listed.map(({ name }) => name));
  const unlisted = Object.keys(price).filter((name) => name !== '*' && !names.has(name));
  return unlisted.slice(0, 1).map((name) => ({
    path: 'price',
    message: `${JSON.stringify(name)}${unlisted.length > 1 ? ` and ${unlisted.length - 1} more names are` : ' is'} not listed by the server. Use own names of tools`,
  }));
}
