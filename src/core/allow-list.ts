/** Allow-lists written in any convention (DESIGN §3.7), matched once, when a plan is made. */
import { buildAliasMap, resolveName } from './alias-map.ts';
import type { Edition } from './edition.ts';

/**
 * `allow`: canonical names, each once, in the list's order. `unmatched`: what matched nothing, as written; an empty list
 * allows nothing. (An absent one means the whole toolset; that is for the caller to say.)
 *
 * A name that fits two tools matches neither and is reported: a list that grants may only grant what its author is known
 * to have meant. Aliases match whether or not models are told of them: the list is its author's, not the model's.
 */
export function matchAllowList(edition: Edition, list: readonly string[]): { allow: string[]; unmatched: string[] } {
  const names = buildAliasMap(edition, { aliases: true });
  const canonicalOf = new Map(edition.tools.map((tool) => [tool.wireName as string, tool.canonical]));
  const allow = new Set<string>();
  const unmatched: string[] = [];
  for (const name of list) {
    const resolution = resolveName(names, name);
    const meant = resolution.ok
      ? [resolution.canonical]
      : resolution.code === 'ambiguous_tool'
        ? resolution.candidates.map((wire) => canonicalOf.get(wire))
        : [];
    const [canonical, ...others] = new Set(meant);
    // Several entries of one tool are one tool: rights are on canonical names.
    if (canonical !== undefined && others.length === 0) allow.add(canonical);
    else unmatched.push(name);
  }
  return { allow: [...allow], unmatched };
}
