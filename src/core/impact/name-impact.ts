/**
 * What a draft of a toolset would have done to the calls of the past, by the names that they used. Both sides are resolved as a call is, so a
 * toolset compared with itself has no difference, and a difference here is one of a call that is repeated.
 */
import { isAlias } from '../names/names.ts';
import { fold } from '../names/fold.ts';
import { jsonKey } from '../schema/schema-parts.ts';
import { type AliasMap, findTool, toolsNamed } from '../toolset/alias-map.ts';
import { type EditionTool, targetTools } from '../toolset/edition-tool.ts';
import type { TargetChoice } from '../toolset/entries/entry-targets.ts';
import { aliasName, type ToolsetAlias } from '../names/toolset-alias.ts';
import type { Toolset } from '../toolset/toolset.ts';
import { toolOf } from '../toolset/entries/entry-targets.ts';
import { isWildcard } from '../toolset/wildcards.ts';

/** Calls by one name. `agents`, `keys`: who called it; some of them if there are many. */
export type CalledName = {
  requested: string;
  calls: number;
  failures: number;
  lastDay: string | null;
  overcount?: number;
  agents: readonly string[];
  keys: readonly string[];
};

/**
 * `gone`: no name any more. `moved`: the name of another tool, or of an entry with other arguments. `ambiguous`: the name of several.
 * `unusable`: of a tool that cannot be called, as it is held or missing. `targets`: of the same entry, whose calls may run elsewhere. `found`: a name now, and
 * none before.
 */
export type NameChange = 'gone' | 'moved' | 'ambiguous' | 'unusable' | 'targets' | 'found';

/** The targets of an entry, first to last, and how calls choose one. */
export type NamedTargets = { tools: string[]; choose: TargetChoice | null };

/** `was`, `now`: canonical names. `wireName`: the name to call now; null: the draft does not have the tool. */
export type ChangedName = CalledName & {
  change: NameChange;
  was: string | null;
  now: string[];
  wireName: string | null;
  targets?: { was: NamedTargets; now: NamedTargets };
};

export type NameImpact = { same: { names: number; calls: number }; changed: ChangedName[] };

/** null: there is no stored toolset, or the draft has no valid entry. */
export function nameImpact(before: AliasMap | null, after: AliasMap | null, called: readonly CalledName[]): NameImpact {
  const changed: ChangedName[] = [];
  const same = { names: 0, calls: 0 };
  const [earlier, current] = [entriesOf(before), entriesOf(after)];
  const isOneOfSeveral = (canonical: string): boolean => [earlier, current].some((tools) => (tools.get(canonical)?.length ?? 0) > 1);
  for (const one of called) {
    const was = findTool(before, one.requested);
    const found = after === null ? [] : toolsNamed(after, one.requested);
    const change = changeOf(was, found, isOneOfSeveral);
    if (change === null) {
      same.names += 1;
      same.calls += one.calls;
      continue;
    }
    const now = [...new Set(found.map(({ canonical }) => canonical))];
    const wireName = was === null ? undefined : current.get(was.canonical)?.[0]?.wireName;
    const named = { was: was?.canonical ?? null, now, wireName: wireName ?? null };
    const [first] = found;
    const targets =
      change === 'targets' && was !== null && first !== undefined ? { was: namedTargets(was), now: namedTargets(first) } : null;
    changed.push({ ...one, change, ...named, ...(targets && { targets }) });
  }
  return { same, changed: changed.sort((a, b) => b.calls - a.calls) };
}

function entriesOf(names: AliasMap | null): Map<string, EditionTool[]> {
  return Map.groupBy(names?.tools ?? [], ({ canonical }) => canonical);
}

function changeOf(
  was: EditionTool | null,
  found: readonly EditionTool[],
  isOneOfSeveral: (canonical: string) => boolean,
): NameChange | null {
  const [now = null, ...others] = found;
  if (was === null) return others.length === 0 && now?.state === 'ready' ? 'found' : null;
  if (now === null) return 'gone';
  if (others.length > 0) return 'ambiguous';
  if (was.canonical !== now.canonical) return 'moved';
  if (isOneOfSeveral(was.canonical) && jsonKey(was.arguments ?? {}) !== jsonKey(now.arguments ?? {})) return 'moved';
  if (was.state === 'ready' && now.state !== 'ready') return 'unusable';
  return jsonKey(namedTargets(was)) === jsonKey(namedTargets(now)) ? null : 'targets';
}

function namedTargets(tool: EditionTool): NamedTargets {
  return { tools: targetTools(tool).map(({ canonical }) => canonical), choose: tool.targets?.choose ?? null };
}

/** A name that the draft can keep. `entry`: its index in the draft; null: a new entry, beside the pattern that lists the tool. */
export type Mend = { requested: string; tool: string; alias: string; entry: number | null; note: string };
/** `kept`: the aliases that the entry has without it, also default ones, which a list would replace. */
type PlacedMend = Mend & { kept: readonly ToolsetAlias[] };

/**
 * Returns how the draft keeps the names that it loses: each becomes a deprecated alias of its tool, which says what to call now. `places`: for
 * each tool of `after`, its entry in the draft. Nothing keeps a name whose tool the draft does not have, or that another tool has now.
 */
export function mendsOf(draft: Toolset, after: AliasMap, places: readonly number[], changed: readonly ChangedName[]): PlacedMend[] {
  const positions = new Map(after.tools.map(({ canonical }, index) => [canonical, index]).toReversed() as [string, number][]);
  return changed.flatMap(({ requested, change, was, wireName }): PlacedMend[] => {
    if (was === null || wireName === null || (change !== 'gone' && change !== 'ambiguous')) return [];
    const alias = aliasFor(requested);
    const position = positions.get(was);
    const [place, tool] = position === undefined ? [] : [places[position], after.tools[position]];
    if (alias === null || place === undefined || tool === undefined) return [];
    const entry = isWildcard(draft.tools[place] ?? {}) ? null : place;
    return [{ requested, tool: was, alias, entry, note: `use ${wireName}`, kept: tool.aliases }];
  });
}

/** Returns a spelling that an alias may have and that a call of the name finds; null if no spelling is legal. */
export function aliasFor(requested: string): string | null {
  const legal = requested
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .slice(0, 64);
  return [requested, legal, fold(requested)].find((name) => isAlias(name) && fold(name) === fold(requested)) ?? null;
}

/** `alias` → `argument`, the tool's own name. */
export type ArgumentMend = { tool: string; argument: string; alias: string };

/** Returns the draft with the aliases of arguments. `places`: for each tool of `after`, its entry in the draft. */
export function withArgumentAliases(draft: Toolset, after: AliasMap, places: readonly number[], mends: readonly ArgumentMend[]): Toolset {
  const tools = draft.tools.map((entry) => ({ ...entry }));
  for (const { tool, argument, alias } of mends) {
    const place = places[after.tools.findIndex(({ canonical }) => canonical === tool)];
    const written = place === undefined ? undefined : tools[place];
    let target = tools.find((entry) => toolOf(entry) === tool) ?? (isWildcard(written ?? {}) ? undefined : written);
    if (target === undefined) {
      target = { tool };
      tools.push(target);
    }
    target.arguments = { ...target.arguments, alias: { ...target.arguments?.alias, [alias]: { argument, mode: 'deprecated' } } };
  }
  return { ...draft, tools };
}

export function mended(draft: Toolset, mends: readonly PlacedMend[]): Toolset {
  const tools = draft.tools.map((entry) => ({ ...entry }));
  for (const { tool, alias, entry, note, kept } of mends) {
    let target = entry === null ? tools.find((one) => toolOf(one) === tool) : tools[entry];
    if (target === undefined) {
      target = { tool };
      tools.push(target);
    }
    const given = target.aliases ?? [...kept];
    if (!given.some((one) => fold(aliasName(one)) === fold(alias))) target.aliases = [...given, { name: alias, mode: 'deprecated', note }];
  }
  return { ...draft, tools };
}
