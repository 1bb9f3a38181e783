/**
 * Allow-lists written in any convention (DESIGN §3.7): the one place where such a list becomes tools. Plans are made with it, and what
 * is said of a list to its author comes from it, so that both mean the same.
 */
import { buildAliasMap, toolsNamed, type AliasMap } from './alias-map.ts';
import { isForModels, type EditionTool, type ToolsetWarning } from './edition.ts';
import { quoted } from './problem.ts';
import { nearNames, type Candidate } from './suggest.ts';

/** One name of a list, at its place: what it fits. None: it matched nothing. Several: it is ambiguous, and allows none of them. */
export type AllowedName = { name: string; canonicals: readonly string[] };

/**
 * `allow`: canonical names, each once, in the list's order; an empty list allows nothing. (An absent one means the whole toolset; that
 * is for the caller to say.) `read`: the list, name by name. `names` is a toolset's full table.
 *
 * A name that fits two tools matches neither: a list that grants may only grant what its author is known to have meant. Aliases match
 * whether or not models are told of them: the list is its author's, not the model's.
 */
export function matchAllowList(names: AliasMap, list: readonly string[]): { allow: string[]; read: AllowedName[] } {
  const all = names.aliases ? names : buildAliasMap(names.edition, { aliases: true });
  // Several entries of one tool are one tool: rights are on canonical names.
  const read = list.map((name) => ({ name, canonicals: [...new Set(toolsNamed(all, name).map(({ canonical }) => canonical))] }));
  const allow = new Set(read.flatMap(({ canonicals }) => (canonicals.length === 1 ? canonicals : [])));
  return { allow: [...allow], read };
}

/** What the author of a list should know of it, at `tools[i]`, or at `tools` where it is about the whole list. `toolset`: the name of theirs. */
export function allowListWarnings(names: AliasMap, list: readonly string[], toolset: string): ToolsetWarning[] {
  const { allow, read } = matchAllowList(names, list);
  const suggest = createSuggester(names.edition.tools);
  const firstAt = new Map<string, number>();
  const warnings = read.flatMap(({ name, canonicals }, index): ToolsetWarning[] => {
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
    const first = firstAt.get(canonical);
    if (first !== undefined) return [{ path, message: `${quoted(name)} is ${canonical} again, as tools[${first}]; once is enough.` }];
    firstAt.set(canonical, index);
    return [];
  });
  const whole = wholeListWarning(names.edition.tools, list, new Set(allow));
  return whole === null ? warnings : [...warnings, { path: 'tools', message: whole }];
}

function wholeListWarning(tools: readonly EditionTool[], list: readonly string[], allow: ReadonlySet<string>): string | null {
  if (list.length === 0) return 'An empty list allows nothing: this agent has no tools. Leave `tools` out to give it the whole toolset.';
  if (allow.size === 0) return 'Nothing in the list fits a tool: this agent has no tools.';
  const allowed = tools.filter(({ canonical }) => allow.has(canonical));
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
