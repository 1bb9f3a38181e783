/**
 * The names that a plan offers: one table from its edition, the agent's list and the alias setting, cached for the next turn. Then the made
 * tools beside the toolset (`Agent.made`): those whose own tools the plan has, under names that have no other meaning there. Then code mode:
 * the model gets `run_code` and the tools meant for the model itself; its code gets everything the plan offers.
 */
import { getOrBuild, memoizeByObject } from '../../core/memoize.ts';
import { buildAliasMap, extendAliasMap, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { acceptNames } from '../../core/toolset/allow-list.ts';
import { type Edition, type EditionTool, isForModels } from '../../core/toolset/edition-tool.ts';
import { fetchResultTool, findToolsCanonical, findToolsTool } from '../../core/toolset/injected-tool.ts';
import { privateToolset } from '../../core/made/made-toolset.ts';
import { type CanonicalName, toWireName } from '../../core/names/names.ts';
import { isOnDemand } from '../../core/turn/offered-tools.ts';
import type { ClientTool, Plan } from '../../core/turn/plan.ts';
import { useSkillCanonical, useSkillTool } from '../../core/skills/skill-prompt.ts';
import type { Directory } from '../../ports/directory.ts';
import type { ResultStore } from '../../ports/result-store.ts';
import { fold } from '../../core/names/fold.ts';
import { runCodeCanonical, runCodeTool } from '../../core/turn/run-code.ts';

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
  const view = withAccepted(made === null ? part : madeView(part, made, plan), plan);
  return view !== null && isOnDemand(view) ? withTool(view, findToolsTool) : view;
}

/** Returns the part of an edition that the plan allows, without injected tools: `find_tools` has no use where every definition is listed. */
export function listedNames(names: AliasMap, plan: PlanView): AliasMap {
  return withAccepted(viewOf(names, plan), plan);
}

type PlanView = Pick<Plan, 'aliases' | 'allow' | 'allowHash' | 'madeAllow' | 'acceptedNames'>;

/** By the table without the names, then by the names. */
const acceptedViewsOf = memoizeByObject((_view: AliasMap) => new Map<string, AliasMap>());

function withAccepted<View extends AliasMap | null>(view: View, { acceptedNames }: PlanView): View | AliasMap {
  if (view === null || acceptedNames === undefined) return view;
  return getOrBuild(acceptedViewsOf(view), JSON.stringify(acceptedNames), maxNarrowedViews, () => acceptNames(view, acceptedNames));
}

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

const skillsOnlyAliasMap = extendAliasMap(null, [useSkillTool]);

function withUseSkill(names: AliasMap | null): AliasMap {
  return names === null ? skillsOnlyAliasMap : withTool(names, useSkillTool);
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

function toEditionTool({ name, description, inputSchema, strict }: ClientTool): EditionTool {
  return {
    // The name was validated when the request arrived; a table is built in every turn.
    canonical: `client.${name}` as CanonicalName,
    wireName: toWireName(`client.${name}`, name),
    ownName: name,
    server: 'client',
    kind: 'client',
    description,
    inputSchema,
    ...(strict === true && { strict }),
    aliases: [],
    state: 'ready',
    pin: '',
  };
}

/** Returns the names of a turn, from the editions that its plan points to. `keyId`: the key of the session. */
export async function readTurnNames(directory: Directory, workspace: string, plan: Plan, keyId: string): Promise<AliasMap | null> {
  const read = async (pointer: Plan['edition']) => (pointer === undefined ? null : (await directory.edition(workspace, pointer)).names);
  // An administrator's turn in another key's session gets neither key's private tools: they would run as the session's key.
  const ownMade = plan.ownMade?.toolset === privateToolset(keyId) ? plan.ownMade : undefined;
  const [names, made, own] = await Promise.all([read(plan.edition), read(plan.made), read(ownMade)]);
  return turnNames(names, plan, mergeMadeTools(made, own));
}

/**
 * Merges the made tools a key may be offered: its private ones and the shared ones. If a name of a shared tool clashes with one of a private
 * tool, the shared tool loses that name, so that another key cannot replace a private tool.
 */
export function mergeMadeTools(shared: AliasMap | null, own: AliasMap | null): AliasMap | null {
  if (shared === null || own === null || own.edition.tools.length === 0)
    return own === null || own.edition.tools.length === 0 ? shared : own;
  return mergeTables(shared, own);
}

const mergeTables = memoizeByObject((shared: AliasMap, own: AliasMap): AliasMap => {
  const taken = new Set(own.edition.tools.flatMap(namesOf));
  const rest = shared.edition.tools
    .filter(({ wireName, ownName }) => !taken.has(fold(wireName)) && !taken.has(fold(ownName)))
    .map((tool) => ({ ...tool, aliases: tool.aliases.filter(({ name }) => !taken.has(fold(name))) }));
  return buildAliasMap({ ...own.edition, tools: [...own.edition.tools, ...rest] }, { aliases: own.aliases });
});

function namesOf({ wireName, ownName, aliases }: EditionTool): string[] {
  return [wireName, ownName, ...aliases.map(({ name }) => name)].map(fold);
}

/** `left`: the made tools that are omitted, with the reason. */
export type OfferedMadeTools = { offered: readonly EditionTool[]; omitted: readonly { canonical: string; why: string }[] };

/** `names`: the plan's part of its toolset; null without a toolset. `made`: the table of the made tools that the key may be offered (`joinMade`). */
export function selectMadeTools(names: AliasMap | null, made: AliasMap): OfferedMadeTools {
  const listed = new Set(names?.edition.tools.map(({ canonical }) => canonical));
  const byName = new Map(made.edition.tools.map((tool) => [tool.canonical, tool]));
  const faults = new Map<string, string | null>();
  const isThere = (canonical: string): boolean =>
    names !== null && toolsNamed(names, canonical).some((tool) => tool.canonical === canonical && isForModels(tool));

  const faultOf = (tool: EditionTool): string | null => {
    const known = faults.get(tool.canonical);
    if (known !== undefined) return known;
    const fault = findFault(tool);
    faults.set(tool.canonical, fault);
    return fault;
  };
  const findFault = (tool: EditionTool): string | null => {
    const [taken] = names === null ? [] : toolsNamed(names, tool.wireName);
    if (taken !== undefined) return `"${tool.wireName}" already means ${taken.canonical} in this toolset`;
    for (const use of tool.made?.uses ?? []) {
      if (isThere(use.canonical)) continue;
      const inner = listed.has(use.canonical) ? undefined : byName.get(use.canonical);
      const why = inner === undefined ? 'is not one of the agent’s tools' : faultOf(inner);
      if (why !== null) return `it calls ${use.canonical}, which ${inner === undefined ? why : `is omitted: ${why}`}`;
    }
    return null;
  };

  const candidates = made.edition.tools.filter((tool) => tool.made !== undefined && isForModels(tool) && !listed.has(tool.canonical));
  return {
    offered: candidates.filter((tool) => faultOf(tool) === null).map((tool) => (names === null ? tool : withFreeAliases(names, tool))),
    omitted: candidates.flatMap((tool) => {
      const why = faultOf(tool);
      return why === null ? [] : [{ canonical: tool.canonical, why }];
    }),
  };
}

function withFreeAliases(names: AliasMap, tool: EditionTool): EditionTool {
  const aliases = tool.aliases.filter(({ name }) => toolsNamed(names, name).length === 0);
  return aliases.length === tool.aliases.length ? tool : { ...tool, aliases };
}

/**
 * Adds the made tools to the plan's part of the toolset, as one table, so that large numbers of them are given on demand like other tools.
 * `view`: the plan's part without them.
 */
export function withMade(
  view: AliasMap | null,
  made: AliasMap,
  { aliases, allow, madeAllow }: Pick<Plan, 'aliases' | 'allow' | 'madeAllow'>,
): AliasMap | null {
  const offered = madeAllow === undefined ? selectMadeTools(view, made).offered : leftOf(view, made, new Set(madeAllow));
  if (offered.length === 0) return view;
  const edition: Edition =
    view === null ? { ...made.edition, tools: [...offered] } : { ...view.edition, tools: [...view.edition.tools, ...offered] };
  const more = offered.map(({ canonical }) => canonical);
  return buildAliasMap(edition, { aliases, allow: view === null || allow === null ? null : [...allow, ...more] });
}

/** The tools of a stored plan. They were selected when the request arrived; tools they call need not be offered to the model. */
function leftOf(view: AliasMap | null, made: AliasMap, left: ReadonlySet<string>): EditionTool[] {
  const tools = made.edition.tools.filter(({ canonical }) => left.has(canonical));
  return view === null ? tools : tools.map((tool) => withFreeAliases(view, tool));
}

/** `names`: what the plan offers without client tools. Returns the same table if code could call nothing. Cached. */
export const codeNames = memoizeByObject((names: AliasMap): AliasMap => (names.tools.some(isForCode) ? makeCodeNames(names) : names));

/**
 * Adds client tools, for the model and for its code. In code mode they stay available to the model too: the client expects calls from the
 * model, answers them in the conversation, and may name one as the tool choice.
 */
export function withClientTools(names: AliasMap | null, tools: readonly EditionTool[]): AliasMap {
  const inner = names?.inner;
  return extendAliasMap(names, tools, inner === undefined ? undefined : extendAliasMap(inner, tools));
}

function makeCodeNames(names: AliasMap): AliasMap {
  const [listed] = toolsNamed(names, runCodeCanonical).filter(({ canonical }) => canonical === runCodeCanonical);
  const own = names.tools.filter((tool) => tool.kind === 'ui' || modelOnlyTools.has(tool.canonical));
  const isFound = toolsNamed(names, findToolsCanonical).some(({ canonical }) => canonical === findToolsCanonical);
  // Not all tools may be declared; code finds the others with `find_tools`.
  const inner = isFound ? names : extendAliasMap(names, [findToolsTool]);
  return extendAliasMap(null, [listed ?? runCodeTool, ...own], inner);
}

/** Tools for the model only: it reads skills and long results itself. */
const modelOnlyTools: ReadonlySet<string> = new Set([useSkillCanonical, fetchResultTool.canonical]);
const excludedFromCode: ReadonlySet<string> = new Set([...modelOnlyTools, runCodeCanonical, findToolsCanonical]);

function isForCode(tool: EditionTool): boolean {
  return isForModels(tool) && !excludedFromCode.has(tool.canonical);
}
