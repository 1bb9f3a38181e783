/**
 * What becomes of a server's tools when it lists them (DESIGN §4, pins): which are in force, which are held until somebody accepts
 * them, which are missing, and which of those seem to have another name now. A pure decision over what was known before; the
 * Catalog stores it. What is wrong with a definition itself is `listing.ts`.
 */
import { canonicalJson, sha256Hex } from '../hash.ts';
import type { Finding } from './hold.ts';
import { isDeeperThan } from '../json-depth.ts';
import { shapeOf, stateOf, withoutAnnotations } from './kept-tool.ts';
import type { AcceptedDefinition, KeptTool, PinnedDefinition } from './kept-tool.ts';
import { limits } from '../limits.ts';
import { readListing } from './listing.ts';
import type { Operations } from './listing.ts';
import { otherServer } from '../servers/server-identity.ts';
import { definitionPin } from './tool-pin.ts';

/** One item of a listing that has a name of its own. */
export type PinnedItem = {
  /** `tools[i]`. */
  path: string;
  name: string;
  listed: PinnedDefinition | null;
  /** The hash of what is no definition. */
  refused: string | null;
  findings: readonly Finding[];
  /** Not before a person has looked. */
  isSuspicious: boolean;
};

export type PinnedListing = {
  items: PinnedItem[];
  /** Left out, without a name they could be known by: what is listed twice, too. */
  nameless: { path: string; name: string; findings: readonly Finding[] }[];
  /** Equal for listings that say the same, in whatever order. */
  hash: string;
};

export type TakenListing = {
  /** All that is known now, in the order of their names. */
  tools: KeptTool[];
  /** Those of them that are not as they were. */
  written: KeptTool[];
  /** Own names that nothing is known of any more. */
  forgotten: string[];
  added: string[];
  removed: string[];
  renames: { from: string; to: string }[];
};

/** Prints, and is short enough to be shown and to be a part of a path. */
const showableName = /^[^\p{C}]{1,128}$/u;

/** The definitions of a listing with their pins. What was read before (`shown-listing.ts`) may be given beside them. */
export async function pinListing(
  tools: readonly Record<string, unknown>[],
  { paths = [], refused = [], operations }: { paths?: readonly string[]; refused?: readonly PinnedItem[]; operations?: Operations } = {},
): Promise<PinnedListing> {
  const items = new Map<string, PinnedItem>();
  const nameless: PinnedListing['nameless'] = [];
  const read = readListing(tools, operations);
  const pins = await Promise.all(read.map(({ raw }, index) => (raw === null ? hashOfRefused(tools[index]) : definitionPin(raw))));
  for (const [index, { name, raw, definition, findings, verdict, ...place }] of read.entries()) {
    const path = paths[index] ?? place.path;
    const pin = pins[index] ?? '';
    const isDefinition = verdict !== 'refuse' && raw !== null && definition !== null;
    // The first one counts, but something that can be used goes before something that cannot.
    const before = items.get(name);
    if (!showableName.test(name) || (before !== undefined && (before.listed !== null || !isDefinition))) {
      nameless.push({ path, name, findings });
      continue;
    }
    if (before !== undefined) nameless.push({ path: before.path, name, findings: before.findings });
    items.set(name, {
      path,
      name,
      listed: isDefinition ? { pin, definition, ...(canonicalJson(raw) !== canonicalJson(definition) && { raw }) } : null,
      refused: isDefinition ? null : pin,
      findings,
      isSuspicious: verdict === 'hold',
    });
  }
  for (const item of refused) if (!items.has(item.name)) items.set(item.name, item);
  const sorted = [...items.values()].sort(byName);
  return { items: sorted, nameless, hash: await hashOf(sorted) };
}

/** Without its parts where they nest too deep to be walked: which of them changed is all the same then. */
async function hashOfRefused(tool: unknown): Promise<string> {
  return await sha256Hex(isDeeperThan(tool, limits.maxJsonDepth) ? 'too deep' : canonicalJson(tool));
}

function hashOf(items: readonly PinnedItem[]): Promise<string> {
  return sha256Hex(canonicalJson(items.map(({ name, listed, refused }) => [name, listed?.pin ?? null, refused])));
}

/**
 * `isFirst`: the server is new, so what it lists is what its administrator wants. `isNamed`: whether a toolset has the tool (own
 * name); a tool that is neither listed nor named is forgotten. `stranger`: the server seems to be another one than before, as this says: what
 * it lists waits for somebody, until it is accepted.
 */
export function takeListing(request: {
  kept: readonly KeptTool[];
  items: readonly PinnedItem[];
  isFirst: boolean;
  isNamed: (name: string) => boolean;
  stranger?: Finding | null;
}): TakenListing {
  const before = new Map(request.kept.map((tool) => [tool.name, tool]));
  const after = new Map<string, KeptTool>();
  for (const item of request.items) after.set(item.name, listedTool(before.get(item.name), item, request));
  const forgotten: string[] = [];
  for (const tool of request.kept) {
    if (after.has(tool.name)) continue;
    if (request.isNamed(tool.name)) after.set(tool.name, goneTool(tool));
    else forgotten.push(tool.name);
  }
  offerRenames(before, after);

  const tools = [...after.values()].sort(byName).map((tool) => {
    const known = before.get(tool.name);
    return known !== undefined && isSame(known, tool) ? known : tool;
  });
  return {
    tools,
    written: tools.filter((tool) => before.get(tool.name) !== tool),
    forgotten,
    added: tools.filter((tool) => isListed(tool) && !isListed(before.get(tool.name))).map(({ name }) => name),
    removed: request.kept.filter((tool) => isListed(tool) && !isListed(after.get(tool.name))).map(({ name }) => name),
    renames: tools.flatMap(({ name, renamedTo }) => (renamedTo === null ? [] : [{ from: name, to: renamedTo }])),
  };
}

/** Its server lists it no more, or is gone itself. What was accepted stays: it is what a tool of that name is held against later. */
export function goneTool({ name, accepted, renamedTo }: KeptTool): KeptTool {
  return { name, accepted: withoutAnnotations(accepted), listed: null, refused: null, reason: null, findings: [], renamedTo };
}

function listedTool(
  before: KeptTool | undefined,
  item: PinnedItem,
  { isFirst, stranger }: { isFirst: boolean; stranger?: Finding | null },
): KeptTool {
  const { name, listed, refused } = item;
  const accepted = before?.accepted ?? null;
  const other = stranger ?? strangerOf(before);
  const findings = other === null || accepted === null ? item.findings : [other, ...item.findings];
  const tool = { name, accepted, listed, refused, reason: null, findings, renamedTo: null };
  if (listed === null) return tool;
  // What came is the same, but the rules by which it is cleaned for models may be newer than what is kept.
  if (accepted?.pin === listed.pin) return { ...tool, accepted: acceptedAgain(accepted, listed), reason: other === null ? null : 'server' };
  if (accepted !== null) return { ...tool, reason: 'changed' };
  if (item.isSuspicious) return { ...tool, reason: 'suspicious' };
  // One that waited for somebody before does so still, whoever made the server anew.
  return isFirst && before === undefined ? { ...tool, accepted: listed } : { ...tool, reason: 'new' };
}

/** The same definition, cleaned by the rules of this release. Another server's identity ends the acceptance of annotations with the hold. */
function acceptedAgain({ annotationsAccepted }: AcceptedDefinition, listed: PinnedDefinition): AcceptedDefinition {
  return { ...listed, ...(annotationsAccepted === true && { annotationsAccepted }) };
}

/** Nobody has accepted it since: a server that was another one once is not the old one again for having been asked twice. */
function strangerOf(before: KeptTool | undefined): Finding | null {
  if (before === undefined || before.reason === null) return null;
  return before.findings.find(({ finding }) => finding === otherServer) ?? null;
}

/**
 * A tool that is gone, and one that came with its very definition, are the same one under another name, as far as can be seen. Only
 * where there is one of each: an offer between equals would be a guess. One that was offered stays so while it is listed.
 */
function offerRenames(before: ReadonlyMap<string, KeptTool>, after: Map<string, KeptTool>): void {
  const gone = [...after.values()].filter((tool) => !isListed(tool) && tool.refused === null);
  if (gone.length === 0) return;
  const offered = new Set(gone.map(({ renamedTo }) => renamedTo));
  const arrivals = new Map<string, KeptTool[]>();
  for (const tool of after.values()) {
    const wasAccepted = (before.get(tool.name)?.accepted ?? null) !== null;
    if (tool.listed !== null && (!wasAccepted || offered.has(tool.name))) push(arrivals, shapeOf(tool.listed), tool);
  }
  const departures = new Map<string, KeptTool[]>();
  for (const tool of gone) {
    if (tool.accepted === null) after.set(tool.name, { ...tool, renamedTo: null });
    else push(departures, shapeOf(tool.accepted), tool);
  }
  for (const [shape, from] of departures) {
    const to = arrivals.get(shape) ?? [];
    const only = from.length === 1 && to.length === 1 ? (to[0]?.name ?? null) : null;
    for (const tool of from) {
      const earlier = to.find(({ name }) => name === tool.renamedTo)?.name ?? null;
      after.set(tool.name, { ...tool, renamedTo: earlier ?? only });
    }
  }
}

function isListed(tool: KeptTool | undefined): boolean {
  return tool !== undefined && stateOf(tool) !== 'missing' && stateOf(tool) !== 'refused';
}

function isSame(one: KeptTool, other: KeptTool): boolean {
  return (
    isSameDefinition(one.accepted, other.accepted) &&
    isSameDefinition(one.listed, other.listed) &&
    one.refused === other.refused &&
    one.reason === other.reason &&
    one.renamedTo === other.renamedTo &&
    canonicalJson(one.findings) === canonicalJson(other.findings)
  );
}

function isSameDefinition(one: AcceptedDefinition | null, other: AcceptedDefinition | null): boolean {
  if (one === other) return true;
  return (
    one !== null &&
    one.annotationsAccepted === other?.annotationsAccepted &&
    one.pin === other?.pin &&
    canonicalJson(one.definition) === canonicalJson(other.definition)
  );
}

function push(table: Map<string, KeptTool[]>, key: string, tool: KeptTool): void {
  const group = table.get(key);
  if (group === undefined) table.set(key, [tool]);
  else group.push(tool);
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : 1;
}
