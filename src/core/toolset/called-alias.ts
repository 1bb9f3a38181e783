/** The alias that a call used, once its name is resolved. Results report its deprecation, and explanations name it. */
import type { Resolution } from './alias-map.ts';
import type { EditionAlias } from './edition-tool.ts';
import { fold } from '../names/fold.ts';

type Hit = Extract<Resolution, { ok: true }>;

/**
 * Returns undefined if the call used no alias. In another spelling, visible names take precedence over aliases, and aliases that are
 * not deprecated over deprecated ones.
 */
export function calledAlias({ via, requested, tool }: Hit): EditionAlias | undefined {
  if (via === 'alias' || via === 'wire') return tool.aliases.find(({ name }) => name === requested);
  if (via !== 'folded') return undefined;
  const folded = fold(requested);
  if ([tool.wireName, tool.canonical, tool.ownName].some((name) => fold(name) === folded)) return undefined;
  const fitting = tool.aliases.filter(({ name }) => fold(name) === folded);
  return fitting.find(({ mode }) => mode !== 'deprecated') ?? fitting[0];
}

/** Returns what a caller of a deprecated alias should do instead; null if there is nothing to report. */
export function deprecationOf(hit: Hit): { name: string; note: string } | null {
  const alias = calledAlias(hit);
  return alias?.mode === 'deprecated' ? { name: alias.name, note: alias.note ?? `use ${hit.tool.wireName}` } : null;
}
