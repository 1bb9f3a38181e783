/**
 * The one table that lists, filters, resolves and authorises (DESIGN §3.5, §3.6): what is offered is all that may be
 * called. Both halves of the mapping are here: names out to the model, called names back to tools. Built once for an
 * edition and a plan's rights; exact names cost one lookup.
 */
import { describeTool } from './announce.ts';
import type { Edition, EditionTool } from './edition.ts';
import { fold } from './fold.ts';
import { limits } from './limits.ts';
import type { Via } from './message.ts';
import { distinctWireName, toWireName, type WireName } from './names.ts';
import { nearNames } from './suggest.ts';
import type { JsonSchema } from './tool.ts';

export type AliasMap = {
  readonly edition: Edition;
  /** What the plan may use, in the document's order. Names that lead elsewhere are unknown here. */
  readonly tools: readonly EditionTool[];
  readonly aliases: boolean;
  /** Tables and lists that are built when first asked for, and kept. Nobody else's business. */
  readonly kept: Kept;
};

export type Resolution =
  | { ok: true; requested: string; canonical: string; via: Via; wireName: WireName; tool: EditionTool }
  | { ok: false; code: 'unknown_tool'; requested: string; suggestions: string[] }
  | { ok: false; code: 'ambiguous_tool'; requested: string; candidates: string[] };

/** A definition as a model is sent it. `name` is the tool's wire name, or one of its `function` aliases. */
export type OfferedName = { name: string; description: string; inputSchema: JsonSchema; tool: EditionTool };

export type AliasMapOptions = {
  /** `MONIKER_ALIASES`: without it tools go by their own names, made legal and apart, and no alias is told or resolved. */
  aliases: boolean;
  /** Canonical names; null or absent: all. */
  allow?: readonly string[] | null;
};

export function buildAliasMap(edition: Edition, options: AliasMapOptions): AliasMap {
  const named = options.aliases ? edition.tools : withOwnNames(edition.tools);
  const allow = options.allow === undefined || options.allow === null ? null : new Set(options.allow);
  const tools = allow === null ? named : named.filter((tool) => allow.has(tool.canonical));
  return { edition, tools, aliases: options.aliases, kept: { exact: null, folded: null, offered: null } };
}

/** Finds the tool that a called name means. The first level with a hit decides; two hits on it are ambiguous. */
export function resolveName(map: AliasMap, requested: string): Resolution {
  const exact = exactTable(map).get(requested);
  if (exact !== undefined) return Array.isArray(exact) ? ambiguous(requested, exact) : found(requested, exact, levelOf(exact, requested));
  const folded = foldedTable(map).get(fold(requested));
  if (folded === undefined) return { ok: false, code: 'unknown_tool', requested, suggestions: suggestionsFor(map, requested) };
  return Array.isArray(folded) ? ambiguous(requested, folded) : found(requested, folded, 'folded');
}

/** Every ready tool in the document's order, then the `function` aliases in theirs: what is added last stands last. */
export function offeredTools(map: AliasMap): readonly OfferedName[] {
  map.kept.offered ??= offer(map);
  return map.kept.offered;
}

/** The name to show for a tool, such as one in old messages; of several entries the first. undefined: not in the plan. */
export function wireNameOf(map: AliasMap, canonical: string): WireName | undefined {
  const hit = exactTable(map).get(canonical);
  const tool = Array.isArray(hit) ? hit[0] : hit;
  return tool?.canonical === canonical ? tool.wireName : undefined;
}

/** One tool, or all that a name fits at the level where it was found. */
type Hit = EditionTool | EditionTool[];
type Kept = { exact: Map<string, Hit> | null; folded: Map<string, Hit> | null; offered: OfferedName[] | null };

function found(requested: string, tool: EditionTool, via: Via): Resolution {
  return { ok: true, requested, canonical: tool.canonical, via, wireName: tool.wireName, tool };
}

function ambiguous(requested: string, tools: readonly EditionTool[]): Resolution {
  return { ok: false, code: 'ambiguous_tool', requested, candidates: tools.map((tool) => tool.wireName) };
}

/** The level of a hit is not stored: it shows in the tool, and a table of plain references is half as dear to build. */
function levelOf(tool: EditionTool, name: string): Via {
  if (name === tool.wireName) return 'wire';
  if (name === tool.canonical) return 'canonical';
  return tool.aliases.some((alias) => alias.name === name) ? 'alias' : 'own';
}

/**
 * One table for the four exact levels, filled level by level: a name that is there already belongs to a higher one, unless
 * it came on this level, and then two tools share it.
 */
function exactTable(map: AliasMap): Map<string, Hit> {
  if (map.kept.exact !== null) return map.kept.exact;
  const table = new Map<string, Hit>();
  const add = (name: string, tool: EditionTool, level: Via): void => {
    const before = table.get(name);
    if (before === undefined) table.set(name, tool);
    else if (before !== tool) share(table, name, before, tool, level);
  };
  for (const tool of map.tools) add(tool.wireName, tool, 'wire');
  for (const tool of map.tools) add(tool.canonical, tool, 'canonical');
  for (const tool of map.tools) for (const alias of tool.aliases) add(alias.name, tool, 'alias');
  for (const tool of map.tools) if (tool.ownName !== tool.wireName) add(tool.ownName, tool, 'own');
  map.kept.exact = table;
  return table;
}

function share(table: Map<string, Hit>, name: string, before: Hit, tool: EditionTool, level: Via): void {
  const first = Array.isArray(before) ? before[0] : before;
  if (first === undefined || levelOf(first, name) !== level) return;
  if (Array.isArray(before)) before.push(tool);
  else table.set(name, [before, tool]);
}

/** Every name of every tool, spelling apart. One level: two tools that meet here are ambiguous, whichever names they met by. */
function foldedTable(map: AliasMap): Map<string, Hit> {
  if (map.kept.folded !== null) return map.kept.folded;
  const table = new Map<string, Hit>();
  const add = (name: string, tool: EditionTool): void => {
    const folded = fold(name);
    const before = table.get(folded);
    if (folded === '' || before === tool) return;
    if (before === undefined) table.set(folded, tool);
    else if (!Array.isArray(before)) table.set(folded, [before, tool]);
    // Tools come one after the other, so a repeat is always the last.
    else if (before.at(-1) !== tool) before.push(tool);
  };
  for (const tool of map.tools) {
    add(tool.wireName, tool);
    add(tool.canonical, tool);
    for (const alias of tool.aliases) add(alias.name, tool);
    add(tool.ownName, tool);
  }
  map.kept.folded = table;
  return table;
}

/** Only names that a model may know of are compared; hidden ones stay hidden. */
function suggestionsFor(map: AliasMap, requested: string): string[] {
  if (requested.length > limits.maxToolNameBytes) return [];
  const candidates = function* (): Generator<readonly [string, string]> {
    for (const tool of map.tools) {
      for (const name of [tool.wireName, tool.canonical, tool.ownName]) yield [name, tool.wireName];
      for (const { name, mode } of tool.aliases) if (mode === 'announced' || mode === 'function') yield [name, tool.wireName];
    }
  };
  return nearNames(requested, candidates());
}

function offer(map: AliasMap): OfferedName[] {
  const ready = map.tools.filter((tool) => tool.state === 'ready');
  const define = (tool: EditionTool, name: string): OfferedName => {
    return { name, description: describeTool(tool, map.edition.announce), inputSchema: tool.inputSchema, tool };
  };
  const aliases = ready.flatMap((tool) => tool.aliases.filter(({ name, mode }) => mode === 'function' && name !== tool.wireName).map(({ name }) => define(tool, name)));
  return [...ready.map((tool) => define(tool, tool.wireName)), ...aliases];
}

/**
 * The tools with `MONIKER_ALIASES=off`. Names are settled over the whole edition, before any filter: a tool is called the
 * same whatever an agent's list leaves of its neighbours. Those that share an own name all get the hash of what tells
 * them apart, so that none of them passes for the other.
 */
function withOwnNames(tools: readonly EditionTool[]): EditionTool[] {
  const plain = tools.map((tool) => toWireName(tool.canonical, tool.ownName));
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const name of plain) (seen.has(name) ? shared : seen).add(name);
  return tools.map((tool, index) => {
    let wireName = plain[index] ?? toWireName(tool.canonical, tool.ownName);
    if (shared.has(wireName)) {
      // Entries of one tool differ in their wire names; a hash that is taken, which is next to impossible, is drawn again.
      for (let attempt = 0; seen.has(wireName); attempt++) wireName = distinctWireName(`${tool.canonical} ${tool.wireName} ${attempt}`, tool.ownName);
      seen.add(wireName);
    }
    return { ...tool, wireName, aliases: [] };
  });
}
