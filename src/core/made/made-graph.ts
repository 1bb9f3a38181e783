/** The graph of made tools and the tools they use: no cycles, and no deeper nesting than calls allow (DESIGN §7). */
import type { KnownTools } from '../toolset/known-tools.ts';
import { limits } from '../limits.ts';

/** Returns the tools that a made tool uses, by canonical name. Any other tool uses none. */
export type UsesOf = (canonical: string) => readonly string[];

export function usesIn(known: Pick<KnownTools, 'get'>): UsesOf {
  return (canonical) => known.get(canonical)?.made?.uses ?? [];
}

/** Returns the path from the tool back to itself, `made.a → made.b → made.a`; null: there is no cycle. */
export function findCycle(canonical: string, usesOf: UsesOf): string[] | null {
  const seen = new Set<string>();
  /** Depth first, with the path from the tool to the current position. */
  const way: { name: string; uses: readonly string[]; next: number }[] = [{ name: canonical, uses: usesOf(canonical), next: 0 }];
  for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
    const use = at.uses[at.next];
    at.next += 1;
    if (use === undefined) way.pop();
    else if (use === canonical) return [...way.map(({ name }) => name), canonical];
    else if (!seen.has(use)) {
      seen.add(use);
      way.push({ name: use, uses: usesOf(use), next: 0 });
    }
  }
  return null;
}

/** Returns the longest path down from the tool, starting with it. The graph below it has no cycle. */
export function longestPath(canonical: string, usesOf: UsesOf, kept: Map<string, readonly string[]> = new Map()): readonly string[] {
  const known = kept.get(canonical);
  if (known !== undefined) return known;
  let longest: readonly string[] = [];
  for (const use of usesOf(canonical)) {
    const way = longestPath(use, usesOf, kept);
    if (way.length > longest.length) longest = way;
  }
  const found = [canonical, ...longest];
  kept.set(canonical, found);
  return found;
}

/** Returns the made tools that use any of these directly or indirectly, including those of them that are made tools. */
export function dependentsOf(canonicals: Iterable<string>, known: Pick<KnownTools, 'all'>): Set<string> {
  const users = new Map<string, string[]>();
  for (const { canonical, made } of known.all()) {
    for (const use of made?.uses ?? []) {
      const names = users.get(use);
      if (names === undefined) users.set(use, [canonical]);
      else names.push(canonical);
    }
  }
  const above = new Set<string>();
  const waiting = [...canonicals];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    for (const user of users.get(name) ?? []) {
      if (above.has(user)) continue;
      above.add(user);
      waiting.push(user);
    }
  }
  return above;
}

/** Returns a path through the tool that is longer than calls allow; null: there is none. */
export function tooDeepPath(canonical: string, known: KnownTools): readonly string[] | null {
  const usesOf = usesIn(known);
  const kept = new Map<string, readonly string[]>();
  for (const top of [canonical, ...dependentsOf([canonical], known)]) {
    const way = longestPath(top, usesOf, kept);
    if (way.length > limits.maxCompositeDepth) return way;
  }
  return null;
}
