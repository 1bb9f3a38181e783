/** The alias that a call went by, once its name was resolved: for its deprecation, which a result tells and an explanation names. */
import type { Resolution } from './alias-map.ts';
import type { EditionAlias } from './edition-tool.ts';
import { fold } from './fold.ts';

type Hit = Extract<Resolution, { ok: true }>;

/**
 * undefined: it was called by a name that it has anyway. In another spelling a name that is shown goes before an alias, and one that
 * stands before a deprecated one.
 */
export function calledAlias({ via, requested, tool }: Hit): EditionAlias | undefined {
  if (via === 'alias' || via === 'wire') return tool.aliases.find(({ name }) => name === requested);
  if (via !== 'folded') return undefined;
  const folded = fold(requested);
  if ([tool.wireName, tool.canonical, tool.ownName].some((name) => fold(name) === folded)) return undefined;
  const fitting = tool.aliases.filter(({ name }) => fold(name) === folded);
  return fitting.find(({ mode }) => mode !== 'deprecated') ?? fitting[0];
}

/** What whoever calls by a deprecated alias is told to do instead; null: nothing. */
export function deprecationOf(hit: Hit): { name: string; note: string } | null {
  const alias = calledAlias(hit);
  return alias?.mode === 'deprecated' ? { name: alias.name, note: alias.note ?? `use ${hit.tool.wireName}` } : null;
}
