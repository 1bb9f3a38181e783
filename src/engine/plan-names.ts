/** The names that a plan offers: its edition, the agent's list and the alias switch as one table, kept for the next turn. */
import { buildAliasMap, extendAliasMap, type AliasMap } from '../core/alias-map.ts';
import type { Edition, EditionTool } from '../core/edition.ts';
import { fetchResultTool } from '../core/fetch-result.ts';
import { limits } from '../core/limits.ts';
import { CanonicalName, WireName } from '../core/names.ts';
import type { ClientTool, Plan } from '../core/plan.ts';
import { useSkillTool } from '../core/use-skill.ts';
import type { ResultStore } from '../ports/result-store.ts';

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

/** What a turn offers: the toolset's part, `use_skill` where the agent has skills, then the caller's own tools. null: none of them. */
export function turnNames(names: AliasMap | null, plan: Pick<Plan, 'aliases' | 'allow' | 'clientTools' | 'skills'>): AliasMap | null {
  const listed = names === null ? null : planNames(names, plan);
  const own = plan.skills === undefined || plan.skills.length === 0 ? listed : withUseSkill(listed);
  return plan.clientTools === undefined || plan.clientTools.length === 0 ? own : extendAliasMap(own, plan.clientTools.map(toEditionTool));
}

/** Tables with the tool to read up skills at their end, by the table without. */
const withSkills = new WeakMap<AliasMap, AliasMap>();
const skillsAlone = extendAliasMap(null, [useSkillTool]);

/** Not where the plan has it already, or a tool of its name, which there can be with `MONIKER_ALIASES=off`. */
function withUseSkill(names: AliasMap | null): AliasMap {
  if (names === null) return skillsAlone;
  const known = withSkills.get(names);
  if (known !== undefined) return known;
  const { canonical, wireName } = useSkillTool;
  const listed = names.tools.some((tool) => tool.canonical === canonical || tool.wireName === wireName);
  const map = listed ? names : extendAliasMap(names, [useSkillTool]);
  withSkills.set(names, map);
  return map;
}

/** Tables with the tool to fetch results at their end, by the table without. */
const extended = new WeakMap<AliasMap, AliasMap>();

/**
 * The same names, and last of them `fetch_result`, once a result of the session was cut and kept: asked at every step, so it
 * is there in the turn that made the result. Not where the plan has it already, and not for a turn without tools.
 */
export function withFetchResult(names: AliasMap | null, results: Pick<ResultStore, 'any'> | null): AliasMap | null {
  if (names === null || results === null || !results.any()) return names;
  const known = extended.get(names);
  if (known !== undefined) return known;
  const { canonical, wireName } = fetchResultTool;
  const listed = names.tools.some((tool) => tool.canonical === canonical || tool.wireName === wireName);
  const map = listed ? names : extendAliasMap(names, [fetchResultTool]);
  extended.set(names, map);
  return map;
}

function toEditionTool({ name, description, inputSchema }: ClientTool): EditionTool {
  return {
    canonical: CanonicalName.parse(`client.${name}`),
    wireName: WireName.parse(name),
    ownName: name,
    server: 'client',
    kind: 'client',
    description,
    inputSchema,
    aliases: [],
    state: 'ready',
    pin: '',
  };
}
