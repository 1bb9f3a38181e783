/** The names that a plan offers: its edition, the agent's list and the alias switch as one table, kept for the next turn. */
import { buildAliasMap, extendAliasMap, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import type { Edition, EditionTool } from '../../core/edition-tool.ts';
import { fetchResultTool } from '../../core/fetch-result.ts';
import { findToolsTool } from '../../core/find-tools.ts';
import { limits } from '../../core/limits.ts';
import type { CanonicalName, WireName } from '../../core/names.ts';
import { isOnDemand } from '../../core/offered-tools.ts';
import type { ClientTool, Plan } from '../../core/plan.ts';
import { useSkillTool } from '../../core/skills/use-skill.ts';
import { withMade } from './made-names.ts';
import { codeNames, withCallersTools } from './code-names.ts';
import type { ResultStore } from '../../ports/result-store.ts';

/** Narrowed tables by the edition that they are views of; they go when it goes. */
const narrowed = new WeakMap<Edition, Map<string, AliasMap>>();

/**
 * `names` is the edition's full table, `made` that of all made tools where the plan has those; null: it has no toolset, or none of them. Where most of a plan's tools are given on demand, `find_tools` is one of them. A list of any
 * length costs no more than its hash, where it has one.
 */
export function planNames(names: AliasMap, plan: PlanView, made?: AliasMap | null): AliasMap;
export function planNames(names: AliasMap | null, plan: PlanView, made?: AliasMap | null): AliasMap | null;
export function planNames(names: AliasMap | null, plan: PlanView, made: AliasMap | null = null): AliasMap | null {
  const part = names === null ? null : viewOf(names, plan);
  const view = made === null ? part : madeView(part, made, plan);
  return view !== null && isOnDemand(view) ? withTool(view, findToolsTool, findable) : view;
}

/** The part of an edition that the plan allows, and no tools beside it: where every definition is listed, `find_tools` has no use. */
export function listedNames(names: AliasMap, plan: Pick<PlanView, 'aliases' | 'allow' | 'allowHash'>): AliasMap {
  return viewOf(names, plan);
}

type PlanView = Pick<Plan, 'aliases' | 'allow' | 'allowHash' | 'madeAllow'>;

/** By the part of the toolset, or the made tools where there is none; then by the edition of the made tools and what is left of them. */
const withMadeTools = new WeakMap<AliasMap, WeakMap<AliasMap, Map<string, AliasMap | null>>>();

function madeView(part: AliasMap | null, made: AliasMap, plan: PlanView): AliasMap | null {
  const byMade = withMadeTools.get(part ?? made) ?? new WeakMap<AliasMap, Map<string, AliasMap | null>>();
  withMadeTools.set(part ?? made, byMade);
  const views = byMade.get(made) ?? new Map<string, AliasMap | null>();
  byMade.set(made, views);
  const key = `${plan.aliases} ${JSON.stringify(plan.madeAllow)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  if (views.size >= limits.maxNarrowedViews) views.clear();
  const view = withMade(part, made, plan);
  views.set(key, view);
  return view;
}

function viewOf(names: AliasMap, { aliases, allow, allowHash }: PlanView): AliasMap {
  if (allow === null && aliases === names.aliases) return names;
  const views = narrowed.get(names.edition) ?? new Map<string, AliasMap>();
  narrowed.set(names.edition, views);
  // A hash is hexadecimal, a list begins with a bracket: neither passes for the other.
  const key = `${aliases} ${allowHash ?? JSON.stringify(allow)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  if (views.size >= limits.maxNarrowedViews) views.clear();
  const view = buildAliasMap(names.edition, { aliases, allow });
  views.set(key, view);
  return view;
}

/**
 * What a turn offers: the toolset's part, `use_skill` where the agent has skills, then the caller's own tools. null: none of them. On
 * demand `fetch_result` is there from the first step on: what a conversation gathers stands behind it, and keeps its place. In code mode
 * the table is the model's part, and the rest is its `inner`.
 */
export function turnNames(
  names: AliasMap | null,
  plan: PlanView & Pick<Plan, 'clientTools' | 'codeMode' | 'skills'>,
  made: AliasMap | null = null,
): AliasMap | null {
  const listed = planNames(names, plan, made);
  const skilful = plan.skills === undefined || plan.skills.length === 0 ? listed : withUseSkill(listed);
  const own = skilful === null ? null : plan.codeMode === true ? codeNames(skilful) : withReading(skilful);
  return plan.clientTools === undefined || plan.clientTools.length === 0 ? own : withCallersTools(own, plan.clientTools.map(toEditionTool));
}

function withReading(names: AliasMap): AliasMap {
  return isOnDemand(names) ? withTool(names, fetchResultTool, fetching) : names;
}

const skillsAlone = extendAliasMap(null, [useSkillTool]);

function withUseSkill(names: AliasMap | null): AliasMap {
  return names === null ? skillsAlone : withTool(names, useSkillTool, skilled);
}

/**
 * The same names, and last of them `fetch_result`, once a result of the session was cut and kept: asked at every step, so it
 * is there in the turn that made the result. Not where the plan has it already, and not for a turn without tools.
 */
export function withFetchResult(names: AliasMap | null, results: Pick<ResultStore, 'any'> | null): AliasMap | null {
  if (names === null || results === null || isOnDemand(names) || !results.any()) return names;
  return withTool(names, fetchResultTool, fetching);
}

/** Tables with one of our tools at their end, by the table without. */
type Extended = WeakMap<AliasMap, AliasMap>;
const findable: Extended = new WeakMap();
const skilled: Extended = new WeakMap();
const fetching: Extended = new WeakMap();

/** Not where the plan has it already, or a tool of its name, which there can be with `MONIKER_ALIASES=off`. */
function withTool(names: AliasMap, tool: EditionTool, kept: Extended): AliasMap {
  const known = kept.get(names);
  if (known !== undefined) return known;
  const isListed =
    toolsNamed(names, tool.canonical).some(({ canonical }) => canonical === tool.canonical) ||
    toolsNamed(names, tool.wireName).some(({ wireName }) => wireName === tool.wireName);
  const map = isListed ? names : extendAliasMap(names, [tool]);
  kept.set(names, map);
  return map;
}

function toEditionTool({ name, description, inputSchema }: ClientTool): EditionTool {
  return {
    // Its name was checked for both when the request came in; a table of them is made for every turn.
    canonical: `client.${name}` as CanonicalName,
    wireName: name as WireName,
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
