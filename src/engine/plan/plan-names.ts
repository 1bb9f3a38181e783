/** The names that a plan offers: one table from its edition, the agent's list and the alias setting, cached for the next turn. */
import { getOrBuild, memoizeByObject } from '../../core/memoize.ts';
import { buildAliasMap, extendAliasMap, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { Edition, EditionTool } from '../../core/toolset/edition-tool.ts';
import { fetchResultTool } from '../../core/tools/fetch-result.ts';
import { findToolsTool } from '../../core/tools/find-tools.ts';
import type { CanonicalName, WireName } from '../../core/names/names.ts';
import { isOnDemand } from '../../core/toolset/offered-tools.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import { useSkillTool } from '../../core/skills/skill-prompt.ts';
import { withMade } from './made-names.ts';
import { codeNames, withClientTools } from './code-names.ts';
import type { ResultStore } from '../../ports/result-store.ts';

/** Tables narrowed by agents' allow-lists that are cached for one edition. */
const maxNarrowedViews = 64;

/**
 * `names`: the edition's full table. `made`: the table of all made tools, if the plan offers them. null: no toolset, or no made tools. Adds
 * `find_tools` when most tools are given on demand. The cost is independent of the length of the agent's list if the list has a hash.
 */
export function planNames(names: AliasMap, plan: PlanView, made?: AliasMap | null): AliasMap;
export function planNames(names: AliasMap | null, plan: PlanView, made?: AliasMap | null): AliasMap | null;
export function planNames(names: AliasMap | null, plan: PlanView, made: AliasMap | null = null): AliasMap | null {
  const part = names === null ? null : viewOf(names, plan);
  const view = made === null ? part : madeView(part, made, plan);
  return view !== null && isOnDemand(view) ? withTool(view, findToolsTool) : view;
}

/** Returns the part of an edition that the plan allows, without injected tools: `find_tools` has no use where every definition is listed. */
export function listedNames(names: AliasMap, plan: Pick<PlanView, 'aliases' | 'allow' | 'allowHash'>): AliasMap {
  return viewOf(names, plan);
}

type PlanView = Pick<Plan, 'aliases' | 'allow' | 'allowHash' | 'madeAllow'>;

/** By the plan's part of the toolset (the made tools without a toolset) and the table of made tools, then by the stored selection. */
const madeViewsOf = memoizeByObject((_part: AliasMap, _made: AliasMap) => new Map<string, AliasMap | null>());

function madeView(part: AliasMap | null, made: AliasMap, plan: PlanView): AliasMap | null {
  const key = `${plan.aliases} ${JSON.stringify(plan.madeAllow)}`;
  return getOrBuild(madeViewsOf(part ?? made, made), key, maxNarrowedViews, () => withMade(part, made, plan));
}

const viewsOf = memoizeByObject((_edition: Edition) => new Map<string, AliasMap>());

function viewOf(names: AliasMap, { aliases, allow, allowHash }: PlanView): AliasMap {
  if (allow === null && aliases === names.aliases) return names;
  // A hash is hexadecimal and a list begins with a bracket, so the keys cannot collide.
  const key = `${aliases} ${allowHash ?? JSON.stringify(allow)}`;
  return getOrBuild(viewsOf(names.edition), key, maxNarrowedViews, () => buildAliasMap(names.edition, { aliases, allow }));
}

/**
 * Returns what a turn offers: the plan's part of the toolset, `use_skill` if the agent has skills, then the client's tools; null for none.
 * With tools on demand, `fetch_result` is included from the first step, since the tools a conversation discovers are appended after it. In
 * code mode the table is the model's part, with the rest in its `inner`.
 */
export function turnNames(
  names: AliasMap | null,
  plan: PlanView & Pick<Plan, 'clientTools' | 'codeMode' | 'skills'>,
  made: AliasMap | null = null,
): AliasMap | null {
  const listed = planNames(names, plan, made);
  const withSkills = plan.skills === undefined || plan.skills.length === 0 ? listed : withUseSkill(listed);
  const own = withSkills === null ? null : plan.codeMode === true ? codeNames(withSkills) : withReading(withSkills);
  return plan.clientTools === undefined || plan.clientTools.length === 0 ? own : withClientTools(own, plan.clientTools.map(toEditionTool));
}

function withReading(names: AliasMap): AliasMap {
  return isOnDemand(names) ? withTool(names, fetchResultTool) : names;
}

const skillsAlone = extendAliasMap(null, [useSkillTool]);

function withUseSkill(names: AliasMap | null): AliasMap {
  return names === null ? skillsAlone : withTool(names, useSkillTool);
}

/**
 * Appends `fetch_result` once a result of the session was truncated and stored. Called at each step, so the tool is available in the turn
 * that made the result. Returns the same table if the plan already has the tool, and for a turn without tools.
 */
export function withFetchResult(names: AliasMap | null, results: Pick<ResultStore, 'hasAny'> | null): AliasMap | null {
  if (names === null || results === null || isOnDemand(names) || !results.hasAny()) return names;
  return withTool(names, fetchResultTool);
}

/** Appends a tool unless the table has it, or a tool of its name, which is possible with `MONIKER_ALIASES=off`. */
export const withTool = memoizeByObject((names: AliasMap, tool: EditionTool): AliasMap => {
  const isListed =
    toolsNamed(names, tool.canonical).some(({ canonical }) => canonical === tool.canonical) ||
    toolsNamed(names, tool.wireName).some(({ wireName }) => wireName === tool.wireName);
  return isListed ? names : extendAliasMap(names, [tool]);
});

function toEditionTool({ name, description, inputSchema }: ClientTool): EditionTool {
  return {
    // The name was validated as both when the request arrived; a table is built in every turn.
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
