/**
 * Reads a server's listing: each item once, with its pin and findings. `listing.ts` checks the definitions themselves, and `apply-listing.ts`
 * decides what they mean for the known tools.
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import { isDeeperThan } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import type { Finding } from '../tools/hold.ts';
import { definitionPin } from '../tools/tool.ts';
import type { OperationsByTool } from './listing.ts';
import { canonicalOf, rawOf, shownDefinition, toServerTool, type PinnedDefinition, type StoredTool } from './stored-tool.ts';

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

/** Names of invalid items that are printable and short enough for messages and paths. Those of definitions were checked. */
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
    if ((!isDefinition && !showableName.test(name)) || (before !== undefined && (before.listed !== null || !isDefinition))) {
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
  const sorted = [...items.values()].sort(byToolName);
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

export function byToolName(one: { name: string }, other: { name: string }): number {
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
  const byToolName = new Map(kept.map((tool) => [tool.name, tool]));
  const listing: SubmittedListing = { tools: [], paths: [], refused: [] };
  for (const [index, item] of given.entries()) {
    const path = `tools[${index}]`;
    const known = typeof item.name === 'string' ? byToolName.get(item.name) : undefined;
    if (known === undefined || !isAsShown(server, item, known)) {
      listing.tools.push(item);
      listing.paths.push(path);
    } else if (known.listed !== null) {
      listing.tools.push(itemOf(known.listed));
      listing.paths.push(path);
    } else if (known.refused !== null) {
      const { name, refused, findings } = known;
      listing.refused.push({ path, name, listed: null, refused, findings, isSuspicious: false });
    }
    // Otherwise the tool is missing and remains so.
  }
  return listing;
}

/** The item that a definition was read from, with all that counts of it. GET does not show what only clients get. */
function itemOf(listed: PinnedDefinition): Record<string, unknown> {
  const { listedAliases: aliases, operation: _operation, annotations, ...definition } = rawOf(listed);
  const { meta, others, annotations: otherAnnotations, ...shown } = listed.presentation ?? {};
  const hints = { ...annotations, ...otherAnnotations };
  return {
    ...others,
    ...definition,
    ...shown,
    ...(aliases && { aliases }),
    ...(Object.keys(hints).length > 0 && { annotations: hints }),
    ...(meta && { _meta: meta }),
  };
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
