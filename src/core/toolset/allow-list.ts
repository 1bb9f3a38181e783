/**
 * Allow-lists in any naming convention (contract §3.7). Plans and the warnings for the author of a list both use this file, so that
 * they agree.
 */
import { buildAliasMap, grantOf, toolsLike, toolsNamed, withHiddenAliases, type AliasMap } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { memoizeByObject } from '../memoize.ts';
import { quoted, type Warning } from '../problem.ts';
import { fold } from '../names/fold.ts';
import { withoutVerb } from '../names/name-words.ts';
import { createSuggester, type Candidate } from '../names/suggest.ts';

/**
 * One name of a list and the tools that it matches. None: no match. Several: it is ambiguous and allows none of them. `grant`: what
 * it allows, in the form that `buildAliasMap` takes.
 */
export type AllowedName = { name: string; canonicals: readonly string[]; grant: string | null };

/**
 * Matches a list against `names`, the full table of a toolset. Returns `allow`, the grants in the order of the list without
 * duplicates: canonical names, or a single entry for a name that only this entry of a tool has; `read`, the match for each name; and
 * `accepted`, the names that no tool has with the grant of the tool that they mean, so that they can be called.
 * If no name of a tool matches, a leading verb is ignored: `MindMap` allows `create_mindmap`, if no other tool is about mind maps.
 * An empty list allows nothing. (The caller handles an absent list, which means the whole toolset.)
 * A name that matches two tools allows neither, since a list may grant only what its author is known to have meant. Aliases match
 * whether or not they are announced to models: the list is written by the author of the agent, not by the model.
 */
export function matchAllowList(
  names: AliasMap,
  list: readonly string[],
): { allow: string[]; read: AllowedName[]; accepted: Record<string, string> } {
  const all = names.aliases ? names : buildAliasMap(names.edition, { aliases: true });
  const read = list.map((name) => readName(all, name));
  const unknown = read.filter(({ name }) => toolsNamed(all, name).length === 0);
  const accepted = Object.fromEntries(unknown.flatMap(({ name, grant }) => (grant === null ? [] : [[name, grant]])));
  const allow = new Set(read.flatMap(({ grant }) => grant ?? []));
  // A grant of a tool includes all its entries.
  const isCovered = ({ grant, canonicals: [canonical = ''] }: AllowedName): boolean => grant !== canonical && allow.has(canonical);
  for (const one of read) if (one.grant !== null && isCovered(one)) allow.delete(one.grant);
  return { allow: [...allow], read, accepted };
}

/**
 * Returns the table with names that a list or a skill has for its tools (name → grant) as hidden aliases. A name that a tool has already, in any
 * spelling, keeps its meaning; one for a tool that the table lacks is left out, and so are all with `MONIKER_ALIASES=off`.
 */
export function acceptNames(map: AliasMap, accepted: Readonly<Record<string, string>>): AliasMap {
  if (!map.aliases) return map;
  const byGrant = Map.groupBy(map.own, (tool) => grantOf(map, tool));
  const added = new Map<EditionTool, string[]>();
  for (const [name, grant] of Object.entries(accepted)) {
    const [tool, ...others] = byGrant.get(grant) ?? toolsNamed(map, grant);
    if (tool !== undefined && others.length === 0 && toolsLike(map, name).length === 0) added.set(tool, [...(added.get(tool) ?? []), name]);
  }
  return added.size === 0 ? map : withHiddenAliases(map, added);
}

/** The names of a tool mean all its entries; a name that only one entry has means that entry. */
function readName(all: AliasMap, name: string): AllowedName {
  const exact = toolsNamed(all, name);
  const tools = exact.length > 0 ? exact : toolsWithoutVerb(all, name);
  const canonicals = [...new Set(tools.map(({ canonical }) => canonical))];
  const [tool, ...others] = tools;
  const [canonical, ...more] = canonicals;
  if (tool === undefined || canonical === undefined || more.length > 0) return { name, canonicals, grant: null };
  const isOneEntry = others.length === 0 && canonical !== name;
  return { name, canonicals, grant: isOneEntry ? grantOf(all, tool) : canonical };
}

/** Matches a name without a verb with the tools that have one, and the reverse; never one verb with another. */
function toolsWithoutVerb(all: AliasMap, name: string): readonly EditionTool[] {
  const noun = withoutVerb(name);
  return noun === null ? (nounTable(all).get(fold(name)) ?? []) : toolsNamed(all, noun);
}

/** By the folded name without its verb. A name that folds to the empty string matches nothing. */
const nounTable = memoizeByObject((all: AliasMap): ReadonlyMap<string, readonly EditionTool[]> => {
  const table = new Map<string, EditionTool[]>();
  for (const tool of all.tools) {
    const nouns = [tool.wireName, tool.ownName, ...tool.aliases.map((alias) => alias.name)].map((known) => fold(withoutVerb(known) ?? ''));
    for (const noun of new Set(nouns)) if (noun !== '') table.set(noun, [...(table.get(noun) ?? []), tool]);
  }
  return table;
});

/**
 * Returns the warnings for the author of a list, with the path `tools[i]`, or `tools` for the whole list. `toolset`: the name of the
 * toolset.
 */
export function allowListWarnings(names: AliasMap, list: readonly string[], toolset: string): Warning[] {
  const { allow, read } = matchAllowList(names, list);
  const suggest = createSuggester(() => spellings(names.edition.tools));
  const firstAt = new Map<string, number>();
  const warnings = read.flatMap(({ name, canonicals, grant }, index): Warning[] => {
    const path = `tools[${index}]`;
    const [canonical, ...others] = canonicals;
    if (canonical === undefined)
      return [{ path, message: `${quoted(name)} matches no tool of the toolset ${quoted(toolset)}${suggest(name, '.')}` }];
    if (others.length > 0) {
      const several = canonicals.join(', ');
      return [
        {
          path,
          message: `${quoted(name)} matches several tools of the toolset ${quoted(toolset)}, so it allows none of them. Write one of ${several}.`,
        },
      ];
    }
    const key = grant ?? canonical;
    const first = firstAt.get(canonical) ?? firstAt.get(key);
    if (first !== undefined)
      return [{ path, message: `${quoted(name)} is a duplicate of tools[${first}] (${canonical}). Remove one of them.` }];
    firstAt.set(key, index);
    return [];
  });
  const whole = wholeListWarning(list, allow.length === 0 ? [] : buildAliasMap(names.edition, { aliases: true, allow }).tools);
  return whole === null ? warnings : [...warnings, { path: 'tools', message: whole }];
}

function wholeListWarning(list: readonly string[], allowed: readonly EditionTool[]): string | null {
  if (list.length === 0) return 'The list is empty, so this agent has no tools. Leave `tools` out to allow the whole toolset.';
  if (allowed.length === 0) return 'No name in the list matches a tool, so this agent has no tools.';
  if (allowed.every(({ kind }) => kind === 'ui')) return 'The list allows only UI tools, so models are offered no tools.';
  if (!allowed.some(isForModels)) return 'None of the allowed tools can be called now: all are held or missing.';
  return null;
}

function* spellings(tools: readonly EditionTool[]): Generator<Candidate> {
  for (const { canonical, wireName, ownName, aliases } of tools) {
    for (const name of [wireName, canonical, ownName, ...aliases.map(({ name }) => name)]) yield [name, wireName];
  }
}
