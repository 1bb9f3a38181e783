/**
 * Allow-lists written in any convention (DESIGN §3.7): the one place where such a list becomes tools. Plans are made with it, and what
 * is said of a list to its author comes from it, so that both mean the same.
 */
import { buildAliasMap, grantOf, toolsNamed, type AliasMap } from './alias-map.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { quoted } from './problem.ts';
import { nearNames, type Candidate } from './suggest.ts';
import type { Warning } from './warning.ts';

/**
 * One name of a list, at its place: what it fits. None: it matched nothing. Several: it is ambiguous, and allows none of them. `grant`: what
 * it allows, as `buildAliasMap` reads it.
 */
export type AllowedName = { name: string; canonicals: readonly string[]; grant: string | null };

/**
 * `allow`: what is allowed, each once, in the list's order: canonical names, and for a name that one of several entries of a tool has to
 * itself that entry alone. An empty list allows nothing. (An absent one means the whole toolset; that is for the caller to say.) `read`:
 * the list, name by name. `names` is a toolset's full table.
 *
 * A name that fits two tools matches neither: a list that grants may only grant what its author is known to have meant. Aliases match
 * whether or not models are told of them: the list is its author's, not the model's.
 */
export function matchAllowList(names: AliasMap, list: readonly string[]): { allow: string[]; read: AllowedName[] } {
  const all = names.aliases ? names : buildAliasMap(names.edition, { aliases: true });
  const read = list.map((name) => readName(all, name));
  const allow = new Set(read.flatMap(({ grant }) => grant ?? []));
  // Who has a tool has all of its entries.
  const isCovered = ({ grant, canonicals: [canonical = ''] }: AllowedName): boolean => grant !== canonical && allow.has(canonical);
  for (const one of read) if (one.grant !== null && isCovered(one)) allow.delete(one.grant);
  return { allow: [...allow], read };
}

/** The names of a tool itself mean all of its entries; a name that one of them has to itself means no more than that one. */
function readName(all: AliasMap, name: string): AllowedName {
  const tools = toolsNamed(all, name);
  const canonicals = [...new Set(tools.map(({ canonical }) => canonical))];
  const [tool, ...others] = tools;
  const [canonical, ...more] = canonicals;
  if (tool === undefined || canonical === undefined || more.length > 0) return { name, canonicals, grant: null };
  const isOneEntry = others.length === 0 && canonical !== name;
  return { name, canonicals, grant: isOneEntry ? grantOf(all, tool) : canonical };
}

/** What the author of a list should know of it, at `tools[i]`, or at `tools` where it is about the whole list. `toolset`: the name of theirs. */
export function allowListWarnings(names: AliasMap, list: readonly string[], toolset: string): Warning[] {
  const { allow, read } = matchAllowList(names, list);
  const suggest = createSuggester(names.edition.tools);
  const firstAt = new Map<string, number>();
  const warnings = read.flatMap(({ name, canonicals, grant }, index): Warning[] => {
    const path = `tools[${index}]`;
    const [canonical, ...others] = canonicals;
    if (canonical === undefined)
      return [{ path, message: `${quoted(name)} fits no tool of the toolset ${quoted(toolset)}${suggest(name)}` }];
    if (others.length > 0) {
      const several = canonicals.join(', ');
      return [
        {
          path,
          message: `${quoted(name)} fits several tools of the toolset ${quoted(toolset)}, and so allows none: write one of ${several}.`,
        },
      ];
    }
    const key = grant ?? canonical;
    const first = firstAt.get(canonical) ?? firstAt.get(key);
    if (first !== undefined) return [{ path, message: `${quoted(name)} is ${canonical} again, as tools[${first}]; once is enough.` }];
    firstAt.set(key, index);
    return [];
  });
  const whole = wholeListWarning(list, allow.length === 0 ? [] : buildAliasMap(names.edition, { aliases: true, allow }).tools);
  return whole === null ? warnings : [...warnings, { path: 'tools', message: whole }];
}

function wholeListWarning(list: readonly string[], allowed: readonly EditionTool[]): string | null {
  if (list.length === 0) return 'An empty list allows nothing: this agent has no tools. Leave `tools` out to give it the whole toolset.';
  if (allowed.length === 0) return 'Nothing in the list fits a tool: this agent has no tools.';
  if (allowed.every(({ kind }) => kind === 'ui')) return 'All that the list allows is shown to a person: models are offered no tools.';
  if (!allowed.some(isForModels)) return 'Nothing that the list allows can be called now: it is held, or missing.';
  return null;
}

/** `; did you mean …?`, or a full stop. Each costs a walk over all names: a list with more bad ones has another fault than typing. */
function createSuggester(tools: readonly EditionTool[]): (name: string) => string {
  let left = maxNamesWithSuggestions;
  const spellings = function* (): Generator<Candidate> {
    for (const { canonical, wireName, ownName, aliases } of tools) {
      for (const name of [wireName, canonical, ownName, ...aliases.map(({ name }) => name)]) yield [name, wireName];
    }
  };
  return (name) => {
    left -= 1;
    const near = left < 0 ? [] : nearNames(name, spellings());
    return near.length === 0 ? '.' : `; did you mean ${near.join(', ')}?`;
  };
}

const maxNamesWithSuggestions = 20;
