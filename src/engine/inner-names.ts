/**
 * What tools that call tools may call, by which names. A made tool: what it was compiled with, and nothing else, whatever the plan offers;
 * where the plan has entries for such a tool, those, with their presets and what they say on asking. Code and scripts: all that the plan offers.
 */
import { extendAliasMap, resolveName, toolsNamed, type AliasMap } from '../core/alias-map.ts';
import { isForModels, type EditionTool } from '../core/edition.ts';
import { limits } from '../core/limits.ts';
import type { InnerTool } from '../ports/inner-calls.ts';

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
  const names =
    byPlan.get(key) ??
    extendAliasMap(
      null,
      (tool.made?.uses ?? []).flatMap((use) => standIns(use, plan)),
    );
  byPlan.set(key, names);
  return names;
}

function standIns(use: EditionTool, plan: AliasMap | null): EditionTool[] {
  const entries = plan === null ? [] : toolsNamed(plan, use.canonical).filter(({ canonical }) => canonical === use.canonical);
  return entries.length === 0 ? [use] : entries.map((entry) => underName(entry, use));
}

/** The name that the code was written with goes on meaning the tool, however the toolset calls it. */
function underName(entry: EditionTool, { wireName }: EditionTool): EditionTool {
  const knows = entry.wireName === wireName || entry.aliases.some(({ name }) => name === wireName);
  return knows ? entry : { ...entry, aliases: [...entry.aliases, { name: wireName, mode: 'hidden' }] };
}

/** As whoever writes code is told of them: never the tool itself, nor what is shown to a person; the caller's own only where it can be asked. */
export function innerTools(names: AliasMap | null, self: string, withClient: boolean): InnerTool[] {
  const tools = names?.tools ?? [];
  return tools
    .filter((tool) => isForModels(tool) && tool.canonical !== self && (withClient || tool.kind !== 'client'))
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
  const meant = names === null ? null : resolveName(names, name);
  return meant?.ok ? meant.tool : null;
}

/** Why code may not call the tool from where it is; null: it may. `chain`: the tools that it is beneath, canonical, the outermost first. */
export function chainFault(chain: readonly string[], { canonical }: EditionTool): string | null {
  const shown = [...chain, canonical].join(' → ');
  if (chain.includes(canonical)) return `Not run: it is made of itself (${shown}). Do it without calling ${canonical}.`;
  if (chain.length < limits.maxCompositeDepth) return null;
  return `Not run: tools may call tools ${limits.maxCompositeDepth} deep, and this would be one more (${shown}). Do it in fewer.`;
}
