/** The names that a plan offers: one table from its edition, the agent's list and the alias setting, cached for the next turn. */
import { buildAliasMap, extendAliasMap, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { Edition, EditionTool } from '../../core/toolset/edition-tool.ts';
import { fetchResultTool } from '../../core/tools/fetch-result.ts';
import { findToolsTool } from '../../core/tools/find-tools.ts';
import type { CanonicalName, WireName } from '../../core/names/names.ts';
import { isOnDemand } from '../../core/toolset/offered-tools.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import { useSkillTool } from '../../core/skills/use-skill.ts';
import { withMade } from './made-names.ts';
import { codeNames, withClientTools } from './code-names.ts';
import type { ResultStore } from '../../ports/result-store.ts';

/** Tables narrowed by agents' allow-lists that are cached for one edition. */
const maxNarrowedViews = 64;

/** Narrowed tables, by the edition they belong to; dropped with it. */
const narrowed = new WeakMap<Edition, Map<string, AliasMap>>();

/**
 * `names`: the edition's full table. `made`: the table of all made tools, if the plan offers them. null: no toolset, or no made tools. Adds
 * `find_tools` when most tools are given on demand. The cost is independent of the length of the agent's list if the list has a hash.
 */
export function planNames(names: AliasMap, plan: PlanView, made?: AliasMap | null): AliasMap;
export function planNames(names: AliasMap | null, plan: PlanView, made?: AliasMap | null): AliasMap | null;
export function planNames(names: AliasMap | null, plan: PlanView, made: AliasMap | null = null): AliasMap | null {
  const part = names === null ? null : viewOf(names, plan);
  const view = made === null ? part : madeView(part, made, plan);
  return view !== null && isOnDemand(view) ? withTool(view, findToolsTool, findable) : view;
}

/** Returns the part of an edition that the plan allows, without injected tools: `find_tools` has no use where every definition is listed. */
export function listedNames(names: AliasMap, plan: Pick<PlanView, 'aliases' | 'allow' | 'allowHash'>): AliasMap {
  return viewOf(names, plan);
}

type PlanView = Pick<Plan, 'aliases' | 'allow' | 'allowHash' | 'madeAllow'>;

/** Keyed by the plan's part of the toolset (or the made tools without a toolset), then by the table of made tools and the stored selection. */
const withMadeTools = new WeakMap<AliasMap, WeakMap<AliasMap, Map<string, AliasMap | null>>>();

function madeView(part: AliasMap | null, made: AliasMap, plan: PlanView): AliasMap | null {
  const byMade = withMadeTools.get(part ?? made) ?? new WeakMap<AliasMap, Map<string, AliasMap | null>>();
  withMadeTools.set(part ?? made, byMade);
  const views = byMade.get(made) ?? new Map<string, AliasMap | null>();
  byMade.set(made, views);
  const key = `${plan.aliases} ${JSON.stringify(plan.madeAllow)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  if (views.size >= maxNarrowedViews) views.clear();
  const view = withMade(part, made, plan);
  views.set(key, view);
  return view;
}

function viewOf(names: AliasMap, { aliases, allow, allowHash }: PlanView): AliasMap {
  if (allow === null && aliases === names.aliases) return names;
  const views = narrowed.get(names.edition) ?? new Map<string, AliasMap>();
  narrowed.set(names.edition, views);
  // A hash is hexadecimal and a list begins with a bracket, so the keys cannot collide.
  const key = `${aliases} ${allowHash ?? JSON.stringify(allow)}`;
  const known = views.get(key);
  if (known !== undefined) return known;
  if (views.size >= maxNarrowedViews) views.clear();
  const view = buildAliasMap(names.edition, { aliases, allow });
  views.set(key, view);
  return view;
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
  return isOnDemand(names) ? withTool(names, fetchResultTool, fetching) : names;
}

const skillsAlone = extendAliasMap(null, [useSkillTool]);

function withUseSkill(names: AliasMap | null): AliasMap {
  return names === null ? skillsAlone : withTool(names, useSkillTool, skilled);
}

/**
 * Appends `fetch_result` once a result of the session was truncated and stored. Called at each step, so the tool is available in the turn
 * that made the result. Returns the same table if the plan already has the tool, and for a turn without tools.
 */
export function withFetchResult(names: AliasMap | null, results: Pick<ResultStore, 'hasAny'> | null): AliasMap | null {
  if (names === null || results === null || isOnDemand(names) || !results.hasAny()) return names;
  return withTool(names, fetchResultTool, fetching);
}

/** Tables with one injected tool appended, by the table without it. */
type Extended = WeakMap<AliasMap, AliasMap>;
const findable: Extended = new WeakMap();
const skilled: Extended = new WeakMap();
const fetching: Extended = new WeakMap();

/** Appends a tool unless the plan has it, or a tool of its name, which is possible with `MONIKER_ALIASES=off`. Cached in `extended`. */
function withTool(names: AliasMap, tool: EditionTool, extended: Extended): AliasMap {
  const known = extended.get(names);
  if (known !== undefined) return known;
  const isListed =
    toolsNamed(names, tool.canonical).some(({ canonical }) => canonical === tool.canonical) ||
    toolsNamed(names, tool.wireName).some(({ wireName }) => wireName === tool.wireName);
  const map = isListed ? names : extendAliasMap(names, [tool]);
  extended.set(names, map);
  return map;
}

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
