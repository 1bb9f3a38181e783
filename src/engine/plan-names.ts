/** The names that a plan offers: its edition, the agent's list and the alias switch as one table, kept for the next turn. */
import { buildAliasMap, type AliasMap } from '../core/alias-map.ts';
import type { Edition } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import type { Plan } from '../core/plan.ts';

/** Narrowed tables by the edition that they are views of; they go when it goes. */
const narrowed = new WeakMap<Edition, Map<string, AliasMap>>();

/** `names` is the edition's full table. */
export function planNames(names: AliasMap, plan: Pick<Plan, 'aliases' | 'allow'>): AliasMap {
  if (plan.allow === null && plan.aliases === names.aliases) return names;
  const views = narrowed.get(names.edition) ?? new Map<string, AliasMap>();
  narrowed.set(names.edition, views);
  const key = `${plan.aliases} ${JSON.stringify(plan.allow)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  if (views.size >= limits.maxNarrowedViews) views.clear();
  const view = buildAliasMap(names.edition, { aliases: plan.aliases, allow: plan.allow });
  views.set(key, view);
  return view;
}
