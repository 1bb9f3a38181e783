/**
 * The one table that lists, filters, resolves and authorises (DESIGN §3.5, §3.6): what it holds is all that may be called. Both
 * halves of the mapping are here: a tool to its name of now, called names back to tools. Built once for an edition and a plan's
 * rights; exact names cost one lookup. Which of its tools a model is sent, and how, is `offered-tools.ts`.
 */
import type { Edition, EditionTool } from './edition-tool.ts';
import { fold } from './fold.ts';
import { limits } from './limits.ts';
import type { Via } from './message.ts';
import { distinctWireName, toWireName, type WireName } from './names.ts';
import { nearNames } from './suggest.ts';

export type AliasMap = {
  readonly edition: Edition;
  /** What the plan may use: the document's, in its order, then what was added. Names that lead elsewhere are unknown here. */
  readonly tools: readonly EditionTool[];
  /** Of those, the ones that this table adds to its `base`; all of them where it has none. */
  readonly own: readonly EditionTool[];
  /** The table that this one has more tools than: its look-ups are shared, and what was told of those before stays as it was told. */
  readonly base?: AliasMap;
  readonly aliases: boolean;
  /** In code mode: what the code of this table's `run_code` may call, which a model cannot call by itself. */
  readonly inner?: AliasMap;
  /** Tables that are built when first asked for, and kept. Nobody else's business. */
  readonly kept: Map<Via, Map<string, Hit>>;
};

export type Resolution =
  | { ok: true; requested: string; canonical: string; via: Via; wireName: WireName; tool: EditionTool }
  /** `inCode`: it is a tool of code, by this name there. */
  | { ok: false; code: 'unknown_tool'; requested: string; suggestions: string[]; inCode?: string }
  | { ok: false; code: 'ambiguous_tool'; requested: string; candidates: string[] };

export type AliasMapOptions = {
  /** `MONIKER_ALIASES`: without it tools go by their own names, made legal and apart, and no alias is told or resolved. */
  aliases: boolean;
  /** What `grantOf` says of tools, or canonical names, which are all entries of a tool; null or absent: all. */
  allow?: readonly string[] | null;
};

export function buildAliasMap(edition: Edition, options: AliasMapOptions): AliasMap {
  const named = options.aliases ? edition.tools : withOwnNames(edition.tools);
  const allow = options.allow === undefined || options.allow === null ? null : new Set(options.allow);
  const isAllowed = (tool: EditionTool): boolean => allow === null || allow.has(tool.canonical) || allow.has(grantOf({ edition }, tool));
  const own = allow === null ? named : named.filter(isAllowed);
  return { edition, tools: own, own, aliases: options.aliases, kept: new Map() };
}

/**
 * What allows this tool and nothing else: its canonical name; of several entries of one tool, which may differ in what they fix, with the
 * name that the toolset gives the entry.
 */
export function grantOf({ edition }: Pick<AliasMap, 'edition'>, tool: EditionTool): string {
  return entriesOf(edition, tool.canonical) !== undefined ? `${tool.canonical} ${asWritten(tool).wireName}` : tool.canonical;
}

/** All entries of a tool that stands in several; undefined: it does not. */
function entriesOf(edition: Edition, canonical: string): readonly EditionTool[] | undefined {
  const found = shared.get(edition) ?? sharedTools(edition.tools);
  shared.set(edition, found);
  return found.get(canonical);
}

function sharedTools(tools: readonly EditionTool[]): Map<string, EditionTool[]> {
  const entries = new Map<string, EditionTool[]>();
  for (const tool of tools) {
    const before = entries.get(tool.canonical);
    if (before === undefined) entries.set(tool.canonical, [tool]);
    else before.push(tool);
  }
  return new Map([...entries].filter(([, { length }]) => length > 1));
}

const shared = new WeakMap<Edition, ReadonlyMap<string, readonly EditionTool[]>>();

/** The tool under the names that its toolset gives it, which it may not go by (`MONIKER_ALIASES=off`). */
export function asWritten(tool: EditionTool): EditionTool {
  return written.get(tool) ?? tool;
}

/** Tools that go by other names, to the tools as the toolset has them. */
const written = new WeakMap<EditionTool, EditionTool>();

/**
 * The same table with more tools at its end: the caller's own, and those that we inject. Their names are free, which others check.
 * Costs nothing of the table's size. `inner`: as the table has it; absent: that of `base`.
 */
export function extendAliasMap(base: AliasMap | null, own: readonly EditionTool[], inner = base?.inner): AliasMap {
  const code = inner === undefined ? {} : { inner };
  if (base === null) {
    const edition: Edition = { format: 1, workspace: '', toolset: '', announce: 'none', tools: [...own] };
    return { edition, tools: own, own, aliases: true, ...code, kept: new Map() };
  }
  const { edition, aliases } = base;
  let tools: readonly EditionTool[] | null = null;
  return {
    edition,
    aliases,
    own,
    base,
    ...code,
    kept: new Map(),
    // Seldom asked for, and as long as the toolset.
    get tools() {
      tools ??= [...base.tools, ...own];
      return tools;
    },
  };
}

/** Finds the tool that a called name means. The first level with a hit decides; two hits on it are ambiguous. */
export function resolveName(map: AliasMap, requested: string): Resolution {
  const found = find(map, requested);
  if (found !== null) return answer(requested, found.hit, found.via);
  const inCode = map.inner === undefined ? null : resolveName(map.inner, requested);
  if (inCode?.ok) return { ok: false, code: 'unknown_tool', requested, suggestions: [], inCode: inCode.wireName };
  return { ok: false, code: 'unknown_tool', requested, suggestions: suggestionsFor(map, requested) };
}

/** What a name fits, as `resolveName` finds it: none, the one, or all that it is ambiguous between. Looks for nothing similar. */
export function toolsNamed(map: AliasMap, name: string): readonly EditionTool[] {
  const hit = find(map, name)?.hit ?? [];
  return Array.isArray(hit) ? hit : [hit];
}

/**
 * The name to show for a tool, such as one in old messages that was called by the name `said`; of several entries the one that has this
 * name, else the first. undefined: not in the plan, as an entry that the plan leaves out though it has others of that tool.
 */
export function wireNameOf(map: AliasMap, canonical: string, said?: string): WireName | undefined {
  const hit = hitAt(map, 'canonical', canonical);
  if (hit !== undefined && said !== undefined && isOfLeftOut(map, canonical, said, [hit].flat())) return undefined;
  if (!Array.isArray(hit)) return hit?.wireName;
  const meant = said === undefined ? undefined : (hitAt(map, 'wire', said) ?? hitAt(map, 'alias', said));
  const isOne = meant !== undefined && !Array.isArray(meant) && meant.canonical === canonical;
  return (isOne ? meant : hit[0])?.wireName;
}

/** Whether the name is that of an entry which the toolset has and the plan has not: what was called by it was another than those left. */
function isOfLeftOut(map: AliasMap, canonical: string, said: string, left: readonly EditionTool[]): boolean {
  const entries = entriesOf(map.edition, canonical);
  if (entries === undefined || entries.length === left.length) return false;
  const meant = entries.find(({ wireName, aliases }) => wireName === said || aliases.some(({ name }) => name === said));
  return meant !== undefined && !left.some((tool) => asWritten(tool) === meant);
}

/** A tool, or all tools that a name fits at one level. */
type Hit = EditionTool | EditionTool[];

const exactLevels = ['wire', 'canonical', 'alias', 'own'] as const satisfies readonly Via[];

function find(map: AliasMap, name: string): { hit: Hit; via: Via } | null {
  for (const via of exactLevels) {
    const hit = hitAt(map, via, name);
    if (hit !== undefined) return { hit: via === 'canonical' ? plainEntry(hit) : hit, via };
  }
  const hit = hitAt(map, 'folded', fold(name));
  return hit === undefined ? null : { hit, via: 'folded' };
}

/** Of several entries of one tool its canonical name means the only one without presets: that one is the tool as it is. */
function plainEntry(hit: Hit): Hit {
  if (!Array.isArray(hit)) return hit;
  const [plain, ...others] = hit.filter((tool) => tool.arguments?.preset === undefined);
  return plain !== undefined && others.length === 0 ? plain : hit;
}

/** What a name fits at a level, in the table and in those that it extends; the oldest first. */
function hitAt(map: AliasMap, level: Via, name: string): Hit | undefined {
  const hit = tableOf(map, level).get(name);
  if (map.base === undefined) return hit;
  const before = hitAt(map.base, level, name);
  return before === undefined || hit === undefined ? (before ?? hit) : [before, hit].flat();
}

function answer(requested: string, hit: Hit, via: Via): Resolution {
  if (Array.isArray(hit)) return { ok: false, code: 'ambiguous_tool', requested, candidates: hit.map((tool) => tool.wireName) };
  return { ok: true, requested, canonical: hit.canonical, via, wireName: hit.wireName, tool: hit };
}

/**
 * One table a level, built when a name first comes that far and then kept. Most names are wire names, so most isolates
 * never build the others; all of them together cost a third of parsing the edition (`bench/resolve.ts`).
 */
function tableOf(map: AliasMap, level: Via): Map<string, Hit> {
  const kept = map.kept.get(level);
  if (kept !== undefined) return kept;
  const table = buildTable(map.own, level);
  map.kept.set(level, table);
  return table;
}

function buildTable(tools: readonly EditionTool[], level: Via): Map<string, Hit> {
  const table = new Map<string, Hit>();
  switch (level) {
    case 'wire':
      for (const tool of tools) add(table, tool.wireName, tool);
      return table;
    case 'canonical':
      for (const tool of tools) add(table, tool.canonical, tool);
      return table;
    case 'alias':
      for (const tool of tools) for (const alias of tool.aliases) add(table, alias.name, tool);
      return table;
    case 'own':
      for (const tool of tools) add(table, tool.ownName, tool);
      return table;
    case 'folded':
      // Every name of the tool: two tools that meet here are ambiguous, whichever of their names they met by.
      for (const tool of tools) {
        for (const name of [tool.wireName, tool.canonical, tool.ownName]) add(table, fold(name), tool);
        for (const alias of tool.aliases) add(table, fold(alias.name), tool);
      }
      // What folds to nothing equals nothing.
      table.delete('');
      return table;
    default:
      return level satisfies never;
  }
}

/** Tools are added one after the other, so the same tool again is the last one. */
function add(table: Map<string, Hit>, name: string, tool: EditionTool): void {
  const before = table.get(name);
  if (before === undefined) table.set(name, tool);
  else if (!Array.isArray(before)) {
    if (before !== tool) table.set(name, [before, tool]);
  } else if (before.at(-1) !== tool) before.push(tool);
}

/** Only names that a model may know of are compared: hidden ones stay hidden, and what is shown to a person is not for it. */
function suggestionsFor(map: AliasMap, requested: string): string[] {
  if (requested.length > limits.maxToolNameBytes) return [];
  const candidates = function* (): Generator<readonly [string, string]> {
    for (const tool of map.tools) {
      if (tool.kind === 'ui') continue;
      for (const name of [tool.wireName, tool.canonical, tool.ownName]) yield [name, tool.wireName];
      for (const { name, mode } of tool.aliases) if (mode === 'announced' || mode === 'function') yield [name, tool.wireName];
    }
  };
  return nearNames(requested, candidates());
}

/**
 * The tools with `MONIKER_ALIASES=off`. Names are settled over the whole edition, before any filter: a tool is called the
 * same whatever an agent's list leaves of its neighbours. Those that share an own name all get the hash of what tells
 * them apart, so that none of them passes for the other.
 */
function withOwnNames(tools: readonly EditionTool[]): EditionTool[] {
  const names = ownWireNames(tools);
  return tools.map((tool, index) => {
    const renamed: EditionTool = { ...tool, wireName: names[index] ?? toWireName(tool.canonical, tool.ownName), aliases: [] };
    written.set(renamed, tool);
    return renamed;
  });
}

/** Of each of these, for whoever tells of a document that is not compiled as well. */
export function ownWireNames(tools: readonly Record<'canonical' | 'ownName' | 'wireName', string>[]): WireName[] {
  const plain = tools.map((tool) => toWireName(tool.canonical, tool.ownName));
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const name of plain) (seen.has(name) ? shared : seen).add(name);
  return tools.map((tool, index) => {
    let wireName = plain[index] ?? toWireName(tool.canonical, tool.ownName);
    if (shared.has(wireName)) {
      // Entries of one tool differ in their wire names; a hash that is taken, which is next to impossible, is drawn again.
      for (let attempt = 0; seen.has(wireName); attempt++)
        wireName = distinctWireName(`${tool.canonical} ${tool.wireName} ${attempt}`, tool.ownName);
      seen.add(wireName);
    }
    return wireName;
  });
}
