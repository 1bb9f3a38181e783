/**
 * What tools that call tools may call, by which names. A made tool: what it was compiled with, and nothing else, whatever the plan offers;
 * where the plan has entries for such a tool, those, with their presets and what they say on asking. Code and scripts: all that the plan offers.
 */
import { extendAliasMap, resolveName, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import { isForModels, type EditionTool } from '../../core/edition-tool.ts';
import { limits } from '../../core/limits.ts';
import type { Via } from '../../core/message.ts';
import type { InnerTool } from '../../ports/inner-calls.ts';

/** `plan`: what the plan offers. `above`: what the tool itself was called from; the same, but beneath a made tool. */
export function innerNames(tool: EditionTool, plan: AliasMap | null, above: AliasMap | null): AliasMap | null {
  return tool.kind === 'made' ? madeNames(tool, plan) : above;
}

/** By the tool, and by what stands in its place: a toolset's tools live as long as the toolset. */
const known = new WeakMap<EditionTool, WeakMap<object, AliasMap>>();
const noPlan = {};

function madeNames(tool: EditionTool, plan: AliasMap | null): AliasMap {
  const byPlan = known.get(tool) ?? new WeakMap<object, AliasMap>();
  known.set(tool, byPlan);
  const key = plan ?? noPlan;
  const names = byPlan.get(key) ?? extendAliasMap(null, standIns(tool.made?.uses ?? [], plan));
  byPlan.set(key, names);
  return names;
}

/** By the names that the code was written with, however the toolset calls them: none of these may come to mean another tool. */
function standIns(uses: readonly EditionTool[], plan: AliasMap | null): EditionTool[] {
  const taken = new Set(uses.flatMap((use) => [use.wireName, ...use.aliases.map(({ name }) => name)]));
  return uses.flatMap((use) => {
    const { wireName, ownName, aliases } = use;
    const [entry, ...others] = entriesOf(use.canonical, plan);
    if (entry === undefined) return [use];
    if (others.length === 0) return [{ ...entry, wireName, ownName, aliases }];
    // Each fixes or asks for something of its own: which is meant, only its own name says.
    const names = [...aliases, { name: wireName, mode: 'hidden' as const }];
    return [entry, ...others].filter((one) => !taken.has(one.wireName)).map((one) => ({ ...one, ownName, aliases: names }));
  });
}

/** The one that the canonical name means, else all. */
function entriesOf(canonical: string, plan: AliasMap | null): readonly EditionTool[] {
  if (plan === null) return [];
  const meant = resolveName(plan, canonical);
  if (meant.ok) return meant.canonical === canonical ? [meant.tool] : [];
  return toolsNamed(plan, canonical).filter((tool) => tool.canonical === canonical);
}

/**
 * As whoever writes code is told of them: never the tool itself, nor what is shown to a person; the caller's own only where it can be asked. A
 * made tool's code is written already: what is held or gone stays, and a call says so.
 */
export function innerTools(names: AliasMap | null, { canonical: self, kind }: EditionTool, withClient: boolean): InnerTool[] {
  const tools = names?.tools ?? [];
  const isThere = (tool: EditionTool): boolean => (kind === 'made' ? tool.kind !== 'ui' : isForModels(tool));
  return tools
    .filter((tool) => isThere(tool) && tool.canonical !== self && (withClient || tool.kind !== 'client'))
    .map(({ wireName, canonical, aliases, description, inputSchema, outputSchema, annotations }) => ({
      name: wireName,
      canonical,
      aliases: aliases.map(({ name }) => name),
      description,
      inputSchema,
      ...(outputSchema !== undefined && { outputSchema }),
      ...(annotations !== undefined && { annotations }),
    }));
}

/** The tool that a name means; null: none, or more than one. */
export function innerTool(names: AliasMap | null, name: string): EditionTool | null {
  return meantBy(names, name)?.tool ?? null;
}

/** With how it means it, as the log has it before the call is made. */
export function meantBy(names: AliasMap | null, name: string): { tool: EditionTool; via: Via } | null {
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? { tool: meant.tool, via: meant.via } : null;
}

/** Why code may not call the tool from where it is; null: it may. `chain`: the tools that it is beneath, canonical, the outermost first. */
export function chainFault(chain: readonly string[], { canonical }: EditionTool): string | null {
  const shown = [...chain, canonical].join(' → ');
  if (chain.includes(canonical)) return `Not run: it is made of itself (${shown}). Do it without calling ${canonical}.`;
  if (chain.length < limits.maxCompositeDepth) return null;
  return `Not run: tools may call tools ${limits.maxCompositeDepth} deep, and this would be one more (${shown}). Do it in fewer.`;
}
