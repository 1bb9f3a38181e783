/** What the calls of the last days suggest for a toolset: names to learn, names that lead nowhere, and aliases that no call uses. */
import { fold } from '../names/fold.ts';
import { type AliasMap, resolveName, toolsNamed } from '../toolset/alias-map.ts';
import { aliasName } from '../names/toolset-alias.ts';
import type { Toolset } from '../toolset/toolset.ts';
import type { CalledName } from './name-impact.ts';
import type { Lesson } from './learned-names.ts';

const maxListed = 100;

/** Returns the lessons that were not dismissed. */
export function withoutDismissed(lessons: readonly Lesson[], { dismissed = [] }: Pick<Toolset, 'dismissed'>): Lesson[] {
  const given = new Set(dismissed.map(folded));
  return lessons.filter(({ name, tool, argument }) => !given.has(folded(argument === null ? name : `${tool}#${name}`)));
}

function folded(text: string): string {
  const [tool = '', argument] = text.split('#', 2);
  return argument === undefined ? fold(tool) : `${fold(tool)}#${fold(argument)}`;
}

/** Names that were called and lead to no tool, the most called first. `near`: names of the toolset that look like it. */
export type UnknownName = CalledName & { near: string[] };

export function unknownNames(
  called: readonly CalledName[],
  names: AliasMap,
  { dismissed = [] }: Pick<Toolset, 'dismissed'>,
): UnknownName[] {
  const given = new Set(dismissed.map(folded));
  const unknown = called.filter(({ requested }) => toolsNamed(names, requested).length === 0 && !given.has(folded(requested)));
  const most = unknown.toSorted((a, b) => b.calls - a.calls).slice(0, maxListed);
  return most.map((one) => {
    const found = resolveName(names, one.requested);
    return { ...one, near: !found.ok && found.code === 'unknown_tool' ? found.suggestions : [] };
  });
}

/** Returns the aliases of the document that no call used. `entry`: its index in `tools`. */
export function unusedAliases({ tools }: Pick<Toolset, 'tools'>, called: readonly CalledName[]): { entry: number; alias: string }[] {
  const used = new Set(called.map(({ requested }) => fold(requested)));
  return tools
    .flatMap(({ aliases = [] }, entry) => aliases.map((alias) => ({ entry, alias: aliasName(alias) })))
    .filter(({ alias }) => !used.has(fold(alias)))
    .slice(0, maxListed);
}
