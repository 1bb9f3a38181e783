/**
 * The made tools of a workspace that a plan offers beside its toolset (`Agent.made`): those whose own tools the plan has, under names that
 * have no other meaning there. Made tools that the toolset lists itself are skipped, whether the agent's list allows them or not.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import { buildAliasMap, toolsNamed, type AliasMap } from '../../core/toolset/alias-map.ts';
import { fold } from '../../core/names/fold.ts';
import { isForModels, type Edition, type EditionTool } from '../../core/toolset/edition-tool.ts';
import type { Plan } from '../../core/turn/plan.ts';

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
