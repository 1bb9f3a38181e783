/**
 * Which of a workspace's made tools a plan offers beside its toolset (`Agent.made`): those whose own tools it has, all of them, under names that mean
 * nothing else there. What a toolset lists itself is its own affair, whether the agent's list leaves it or not.
 */
import { buildAliasMap, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import { fold } from '../../core/fold.ts';
import { isForModels, type Edition, type EditionTool } from '../../core/edition-tool.ts';
import type { Plan } from '../../core/plan.ts';

/**
 * The made tools that a key may be offered: its private ones, and the shared ones. A shared tool that came later yields every name that a private
 * one has, so that no other key can take a private tool's place.
 */
export function joinMade(shared: AliasMap | null, own: AliasMap | null): AliasMap | null {
  if (shared === null || own === null || own.edition.tools.length === 0)
    return own === null || own.edition.tools.length === 0 ? shared : own;
  const known = joined.get(own)?.get(shared);
  if (known !== undefined) return known;
  const taken = new Set(own.edition.tools.flatMap(namesOf));
  const rest = shared.edition.tools
    .filter(({ wireName, ownName }) => !taken.has(fold(wireName)) && !taken.has(fold(ownName)))
    .map((tool) => ({ ...tool, aliases: tool.aliases.filter(({ name }) => !taken.has(fold(name))) }));
  const map = buildAliasMap({ ...own.edition, tools: [...own.edition.tools, ...rest] }, { aliases: own.aliases });
  const byShared = joined.get(own) ?? new WeakMap<AliasMap, AliasMap>();
  joined.set(own, byShared.set(shared, map));
  return map;
}

const joined = new WeakMap<AliasMap, WeakMap<AliasMap, AliasMap>>();

function namesOf({ wireName, ownName, aliases }: EditionTool): string[] {
  return [wireName, ownName, ...aliases.map(({ name }) => name)].map(fold);
}

/** `left`: those that it has not, with the reason. */
export type MadePick = { offered: readonly EditionTool[]; left: readonly { canonical: string; why: string }[] };

/** `names`: the plan's part of its toolset; null: it has none. `made`: the table of the made tools that the key may be offered (`joinMade`). */
export function pickMade(names: AliasMap | null, made: AliasMap): MadePick {
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
    if (taken !== undefined) return `"${tool.wireName}" means ${taken.canonical} there`;
    for (const use of tool.made?.uses ?? []) {
      if (isThere(use.canonical)) continue;
      const beneath = listed.has(use.canonical) ? undefined : byName.get(use.canonical);
      const why = beneath === undefined ? 'is not among the tools of the agent' : faultOf(beneath);
      if (why !== null) return `it calls ${use.canonical}, and that ${beneath === undefined ? why : `is left out: ${why}`}`;
    }
    return null;
  };

  const candidates = made.edition.tools.filter((tool) => tool.made !== undefined && isForModels(tool) && !listed.has(tool.canonical));
  return {
    offered: candidates.filter((tool) => faultOf(tool) === null).map((tool) => (names === null ? tool : withFreeAliases(names, tool))),
    left: candidates.flatMap((tool) => {
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
 * The table of a toolset's part and what is picked: one table, in which many tools are given on demand like those of any large toolset.
 * `view`: the plan's part as it is without them.
 */
export function withMade(
  view: AliasMap | null,
  made: AliasMap,
  { aliases, allow, madeAllow }: Pick<Plan, 'aliases' | 'allow' | 'madeAllow'>,
): AliasMap | null {
  const offered = madeAllow === undefined ? pickMade(view, made).offered : leftOf(view, made, new Set(madeAllow));
  if (offered.length === 0) return view;
  const edition: Edition =
    view === null ? { ...made.edition, tools: [...offered] } : { ...view.edition, tools: [...view.edition.tools, ...offered] };
  const more = offered.map(({ canonical }) => canonical);
  return buildAliasMap(edition, { aliases, allow: view === null || allow === null ? null : [...allow, ...more] });
}

/** They were picked when the request came: that it leaves out what they call themselves is of the model's calls, not of theirs. */
function leftOf(view: AliasMap | null, made: AliasMap, left: ReadonlySet<string>): EditionTool[] {
  const tools = made.edition.tools.filter(({ canonical }) => left.has(canonical));
  return view === null ? tools : tools.map((tool) => withFreeAliases(view, tool));
}
