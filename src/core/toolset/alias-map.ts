/**
 * The table that lists, filters, resolves and authorizes tools (contract §3.5, §3.6): only tools in it may be called. It maps both
 * ways: a tool to its current name, and called names back to tools. Built once for an edition and a plan's rights; an exact name
 * costs one lookup. `offered-tools.ts` decides which of these tools are sent to a model.
 */
import { memoizeByObject } from '../memoize.ts';
import type { Edition, EditionTool } from './edition-tool.ts';
import { fold } from '../names/fold.ts';
import { limits } from '../limits/limits.ts';
import type { Via } from '../model/message.ts';
import { ownWireNames, toWireName, type WireName } from '../names/names.ts';
import { nearNames } from '../names/suggest.ts';

export type AliasMap = {
  readonly edition: Edition;
  /** The tools that the plan may use: those of the document in its order, then the added ones. Names of other tools do not resolve. */
  readonly tools: readonly EditionTool[];
  /** The tools that this table adds to `base`; all tools if there is no `base`. */
  readonly own: readonly EditionTool[];
  /** The table that this one extends. Its lookup tables are shared, and resolutions that it returned stay valid. */
  readonly base?: AliasMap;
  readonly aliases: boolean;
  /** In code mode, the tools that the code of `run_code` may call. The model cannot call them directly. */
  readonly inner?: AliasMap;
  /** Lookup tables, each built when several names were looked up in it. Private to this file. */
  readonly lookups: Map<Via, Map<string, Hit>>;
  /** The numbers of names that were looked up without a table. Private to this file. */
  readonly scans: Map<Via, number>;
};

export type Resolution =
  | { ok: true; requested: string; canonical: string; via: Via; wireName: WireName; tool: EditionTool }
  /** `inCode`: the name is that of a tool that only code can call; this is its name in code. */
  | { ok: false; code: 'unknown_tool'; requested: string; suggestions: string[]; inCode?: string }
  | { ok: false; code: 'ambiguous_tool'; requested: string; candidates: string[] };

export type AliasMapOptions = {
  /**
   * The `MONIKER_ALIASES` setting. If false, tools go by their own names, made legal and unique, and aliases are neither announced
   * nor resolved.
   */
  aliases: boolean;
  /** Grants as returned by `grantOf`, or canonical names, which allow all entries of a tool. null or absent: all tools. */
  allow?: readonly string[] | null;
};

export function buildAliasMap(edition: Edition, options: AliasMapOptions): AliasMap {
  const named = options.aliases ? edition.tools : withOwnNames(edition.tools);
  const allow = options.allow === undefined || options.allow === null ? null : new Set(options.allow);
  const isAllowed = (tool: EditionTool): boolean => allow === null || allow.has(tool.canonical) || allow.has(grantOf({ edition }, tool));
  const own = allow === null ? named : named.filter(isAllowed);
  return { edition, tools: own, own, aliases: options.aliases, lookups: new Map(), scans: new Map() };
}

/**
 * Returns the grant for exactly this tool: its canonical name, or, if the tool has several entries (which may have different
 * presets), the canonical name and the configured wire name of the entry.
 */
export function grantOf({ edition }: Pick<AliasMap, 'edition'>, tool: EditionTool): string {
  return entriesOf(edition, tool.canonical) !== undefined ? `${tool.canonical} ${configuredEntry(tool).wireName}` : tool.canonical;
}

/** Returns all entries of a tool that has several; undefined if it has one. */
function entriesOf(edition: Edition, canonical: string): readonly EditionTool[] | undefined {
  return sharedTools(edition).get(canonical);
}

const sharedTools = memoizeByObject(({ tools }: Edition): Map<string, EditionTool[]> => {
  return new Map([...Map.groupBy(tools, ({ canonical }) => canonical)].filter(([, { length }]) => length > 1));
});

/** Returns the tool under the names that its toolset gives it, which differ from its current names under `MONIKER_ALIASES=off`. */
export function configuredEntry(tool: EditionTool): EditionTool {
  return written.get(tool) ?? tool;
}

/** Maps tools that go by other names to the tools as configured in the toolset. */
const written = new WeakMap<EditionTool, EditionTool>();

function rename(tool: EditionTool, names: Partial<Pick<EditionTool, 'wireName' | 'aliases'>>): EditionTool {
  const renamed = { ...tool, ...names };
  written.set(renamed, configuredEntry(tool));
  return renamed;
}

/** Returns the table with hidden aliases added to its tools. For a table without a base. */
export function withHiddenAliases(map: AliasMap, added: ReadonlyMap<EditionTool, readonly string[]>): AliasMap {
  const own = map.own.map((tool) => {
    const names = added.get(tool);
    return names === undefined
      ? tool
      : rename(tool, { aliases: [...tool.aliases, ...names.map((name) => ({ name, mode: 'hidden' as const }))] });
  });
  return { ...map, tools: own, own, lookups: new Map(), scans: new Map() };
}

/**
 * Returns the same table with more tools at its end: the caller's tools and injected ones. The caller checks that their names are
 * free. The cost does not depend on the size of the table. `inner`: the tools of code; absent: those of `base`.
 */
export function extendAliasMap(base: AliasMap | null, own: readonly EditionTool[], inner = base?.inner): AliasMap {
  const code = inner === undefined ? {} : { inner };
  if (base === null) {
    const edition: Edition = { format: 1, workspace: '', toolset: '', announce: 'none', tools: [...own] };
    return { edition, tools: own, own, aliases: true, ...code, lookups: new Map(), scans: new Map() };
  }
  const { edition, aliases } = base;
  let tools: readonly EditionTool[] | null = null;
  return {
    edition,
    aliases,
    own,
    base,
    ...code,
    lookups: new Map(),
    scans: new Map(),
    // Rarely used, and as long as the toolset.
    get tools() {
      tools ??= [...base.tools, ...own];
      return tools;
    },
  };
}

/** Resolves a called name. The first level with a match decides; two matches on that level are ambiguous. */
export function resolveName(map: AliasMap, requested: string): Resolution {
  const found = find(map, requested);
  if (found !== null) return answer(requested, found.hit, found.via);
  const inCode = map.inner === undefined ? null : resolveName(map.inner, requested);
  if (inCode?.ok) return { ok: false, code: 'unknown_tool', requested, suggestions: [], inCode: inCode.wireName };
  return { ok: false, code: 'unknown_tool', requested, suggestions: suggestionsFor(map, requested) };
}

/** Returns the tool that a name resolves to; null for none, or more than one. Does not search for similar names. */
export function findTool(map: AliasMap | null, requested: string): EditionTool | null {
  const [tool, ...others] = map === null ? [] : toolsNamed(map, requested);
  return tool === undefined || others.length > 0 ? null : tool;
}

/**
 * Returns the tools that match a name, as `resolveName` finds them: none, one, or all candidates of an ambiguous name. Does not
 * search for similar names.
 */
export function toolsNamed(map: AliasMap, name: string): readonly EditionTool[] {
  const hit = find(map, name)?.hit ?? [];
  return Array.isArray(hit) ? hit : [hit];
}

/** Returns every tool that has this name or one that folds to it, at any level. */
export function toolsLike(map: AliasMap, name: string): readonly EditionTool[] {
  const folded = fold(name);
  return folded === '' ? toolsNamed(map, name) : [hitAt(map, 'folded', folded) ?? []].flat();
}

/**
 * Returns the name to show for a tool, for example for a call in old messages that used the name `said`. With several entries of one tool,
 * returns the entry with that name, else the first one. undefined: the plan does not have the tool, or not the entry that `said` names.
 */
export function wireNameOf(map: AliasMap, canonical: string, said?: string): WireName | undefined {
  const hit = hitAt(map, 'canonical', canonical);
  if (hit !== undefined && said !== undefined && isOfLeftOut(map, canonical, said, [hit].flat())) return undefined;
  if (!Array.isArray(hit)) return hit?.wireName;
  const meant = said === undefined ? undefined : (hitAt(map, 'wire', said) ?? hitAt(map, 'alias', said));
  const isOne = meant !== undefined && !Array.isArray(meant) && meant.canonical === canonical;
  return (isOne ? meant : hit[0])?.wireName;
}

/**
 * Whether the name belongs to an entry that the toolset has and the plan lacks. A call by that name used a different entry than the
 * remaining ones.
 */
function isOfLeftOut(map: AliasMap, canonical: string, said: string, left: readonly EditionTool[]): boolean {
  const entries = entriesOf(map.edition, canonical);
  if (entries === undefined || entries.length === left.length) return false;
  const meant = entries.find(({ wireName, aliases }) => wireName === said || aliases.some(({ name }) => name === said));
  return meant !== undefined && !left.some((tool) => configuredEntry(tool) === meant);
}

/** A tool, or all tools that match a name at one level. */
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

/** If a tool has several entries, its canonical name means the only one without presets, since that one is the unmodified tool. */
function plainEntry(hit: Hit): Hit {
  if (!Array.isArray(hit)) return hit;
  const [plain, ...others] = hit.filter((tool) => tool.arguments?.preset === undefined);
  return plain !== undefined && others.length === 0 ? plain : hit;
}

/** Returns the match for a name at one level, in this table and in those that it extends, oldest first. */
function hitAt(map: AliasMap, level: Via, name: string): Hit | undefined {
  const table = map.lookups.get(level);
  const hit = table === undefined ? firstHitAt(map, level, name) : table.get(name);
  if (map.base === undefined) return hit;
  const before = hitAt(map.base, level, name);
  return before === undefined || hit === undefined ? (before ?? hit) : [before, hit].flat();
}

function answer(requested: string, hit: Hit, via: Via): Resolution {
  if (Array.isArray(hit)) return { ok: false, code: 'ambiguous_tool', requested, candidates: hit.map((tool) => tool.wireName) };
  return { ok: true, requested, canonical: hit.canonical, via, wireName: hit.wireName, tool: hit };
}

/**
 * The first names of a level are compared with all tools, the next one builds its table. A table of 10,000 names costs as much as 20 such
 * comparisons, and an isolate that loads a toolset for one request looks up fewer names: with tables at once, a cold start takes 8 to 15 % longer
 * (2026-11-28, `bench/resolve.ts`). Those of `folded` would all have to be folded.
 */
const maxScans = 8;

function firstHitAt({ lookups, scans, own }: AliasMap, level: Via, name: string): Hit | undefined {
  const scanned = scans.get(level) ?? 0;
  const found = new Map<string, Hit>();
  if (level === 'folded' || scanned >= maxScans) {
    addNames(found, own, level);
    lookups.set(level, found);
  } else {
    scans.set(level, scanned + 1);
    addNames(found, own, level, name);
  }
  return found.get(name);
}

/** Adds the names that the tools have at a level. `only`: no other names. */
function addNames(table: Map<string, Hit>, tools: readonly EditionTool[], level: Via, only?: string): void {
  const take = (name: string, tool: EditionTool): void => {
    if (only === undefined || name === only) add(table, name, tool);
  };
  switch (level) {
    case 'wire':
      for (const tool of tools) take(tool.wireName, tool);
      return;
    case 'canonical':
      for (const tool of tools) take(tool.canonical, tool);
      return;
    case 'alias':
      for (const tool of tools) for (const alias of tool.aliases) take(alias.name, tool);
      return;
    case 'own':
      for (const tool of tools) take(tool.ownName, tool);
      return;
    case 'folded':
      // Adds every name of the tool: two tools that share a folded name are ambiguous, whichever of their names it came from.
      for (const tool of tools) {
        for (const name of [tool.wireName, tool.canonical, tool.ownName]) take(fold(name), tool);
        for (const alias of tool.aliases) take(fold(alias.name), tool);
      }
      // Names that fold to the empty string match nothing.
      table.delete('');
      return;
    default:
      level satisfies never;
  }
}

/** Tools are added one after the other, so a repeated tool can only be the last one added. */
function add(table: Map<string, Hit>, name: string, tool: EditionTool): void {
  const before = table.get(name);
  if (before === undefined) table.set(name, tool);
  else if (!Array.isArray(before)) {
    if (before !== tool) table.set(name, [before, tool]);
  } else if (before.at(-1) !== tool) before.push(tool);
}

/** Compares only names that a model may know: hidden aliases and UI tools are left out. */
function suggestionsFor(map: AliasMap, requested: string): string[] {
  if (requested.length > limits.maxToolNameLength) return [];
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
 * Returns the tools as named under `MONIKER_ALIASES=off`. Names are assigned over the whole edition, before any filter, so that a
 * tool keeps its name whatever an agent's allow-list leaves out. Tools that share an own name all get that of their server, or a hash, too.
 */
function withOwnNames(tools: readonly EditionTool[]): EditionTool[] {
  const names = ownWireNames(tools);
  return tools.map((tool, index) => rename(tool, { wireName: names[index] ?? toWireName(tool.canonical, tool.ownName), aliases: [] }));
}
