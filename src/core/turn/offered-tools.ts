/**
 * Which tools of a plan are sent to a model, how, and in which order. A definition keeps its position once sent: tools that a
 * conversation adds are appended, so that a provider's prefix cache stays valid from step to step. Tools that are not sent can still
 * be called; `alias-map.ts` decides that.
 */
import { memoizeByObject } from '../memoize.ts';
import type { AliasMap } from '../toolset/alias-map.ts';
import { describeTool, describeUnder, definitionNames, modelDefinition } from '../toolset/model-definitions.ts';
import { isForModels, type EditionTool } from '../toolset/edition-tool.ts';
import { type Gathered, gatheredTool } from './gathered-tools.ts';
import { limits } from '../limits/limits.ts';
import { rootOf } from '../toolset/old-names.ts';
import { injectedNames } from '../names/reserved-names.ts';
import type { JsonSchema } from '../tools/tool.ts';

/** A definition as sent to a model. `name` is the tool's wire name, or one of its `function` aliases. */
export type OfferedName = { name: string; description: string; inputSchema: JsonSchema; tool: EditionTool };

/** Returns every ready tool in the order of the document, each followed by its `function` aliases; then the added tools. */
export const offeredTools = memoizeByObject((map: AliasMap): readonly OfferedName[] => {
  const own = definitionsOf(map, map.own);
  return map.base === undefined ? own : [...offeredTools(map.base), ...own];
});

/** Whether the plan has so many tools that most are sent only after they were found or called (contract §4). */
export function isOnDemand(map: AliasMap): boolean {
  return map.base === undefined ? toolset(map).isOnDemand : isOnDemand(map.base);
}

/** Returns the tools that are sent from the first step on, in order. If the toolset is not on demand, these are all tools. */
export function alwaysOffered(map: AliasMap): readonly EditionTool[] {
  return map.base === undefined ? toolset(map).always : [...alwaysOffered(map.base), ...map.own.filter(isForModels)];
}

/** Returns the number of tools for models in the toolset, sent or not. */
export function readyTools(map: AliasMap): number {
  return map.base === undefined ? toolset(map).ready : readyTools(map.base);
}

type Toolset = { ready: number; isOnDemand: boolean; always: readonly EditionTool[] };

const toolset = memoizeByObject((map: AliasMap): Toolset => {
  const ready = map.own.filter(isForModels);
  const most = map.edition.onDemandAbove ?? limits.defaultOnDemandAbove;
  const always = ready.length > most ? ready.filter(isAlwaysOffered) : ready;
  return { ready: ready.length, isOnDemand: always.length < ready.length, always };
});

/** Injected tools are needed by the turn itself, and a caller's own tools are explicitly requested. */
function isAlwaysOffered({ alwaysOffered: wanted, standsFor, canonical, ownName, kind }: EditionTool): boolean {
  return wanted === true || standsFor !== undefined || kind === 'client' || injectedNames.get(ownName) === canonical;
}

/**
 * Returns the definitions for a step. On demand: the tools that are always offered, then those that the conversation has gathered, in
 * order, and at the end `also`, a tool that this step is forced to call. Returns the same list object until something is added, so
 * that provider formats are built once.
 */
export function sentTools(map: AliasMap, gathered: readonly Gathered[] = nothing, also: EditionTool | null = null): readonly OfferedName[] {
  if (!isOnDemand(map)) return offeredTools(map);
  const known = sent.get(map);
  if (known?.gathered === gathered && known.also === also) return known.tools;
  const always = known?.always ?? definitionsOf(map, alwaysOffered(map));
  const more = gatheredInPlan(map, gathered, also);
  const tools = more.length === 0 ? always : [...always, ...definitionsOf(map, more)];
  sent.set(map, { gathered, also, always, tools });
  return tools;
}

const nothing: readonly Gathered[] = [];
type Sent = { gathered: readonly Gathered[]; also: EditionTool | null; always: readonly OfferedName[]; tools: readonly OfferedName[] };
const sent = new WeakMap<AliasMap, Sent>();

/** Whether another found tool would be sent. Beyond the limit a tool can be called, but its definition is not sent. */
export function canOfferMore(map: AliasMap, gathered: readonly Gathered[]): boolean {
  return !isOnDemand(map) || gatheredInPlan(map, gathered, null).length < limits.maxGatheredTools;
}

/**
 * Returns the gathered tools that the plan currently has, without duplicates and without those that are always offered; the oldest stay.
 */
function gatheredInPlan(map: AliasMap, gathered: readonly Gathered[], also: EditionTool | null): EditionTool[] {
  const before = new Set(alwaysOffered(map));
  const tools = new Set<EditionTool>();
  for (const one of gathered) {
    if (tools.size >= limits.maxGatheredTools) break;
    const tool = gatheredTool(map, one);
    if (tool !== null && isForModels(tool) && !before.has(tool)) tools.add(tool);
  }
  if (also !== null && isForModels(also) && !before.has(also)) tools.add(also);
  return [...tools];
}

function definitionsOf(map: AliasMap, tools: readonly EditionTool[]): OfferedName[] {
  return tools.filter(isForModels).flatMap((tool) => definitionsOfOne(map, tool));
}

function definitionsOfOne(map: AliasMap, tool: EditionTool): readonly OfferedName[] {
  // A caller's own tools change with each turn: caching them costs more than building them.
  return tool.kind === 'client' ? define(map, tool) : cachedDefinitions(rootOf(map), tool);
}

/** A tool has the same definition object in every list of a table and of the tables that extend it. */
const cachedDefinitions = memoizeByObject(define);

function define(map: AliasMap, tool: EditionTool): OfferedName[] {
  const { description: told, inputSchema } = modelDefinition(map, tool);
  // The block in the prompt covers the tools sent from the first step on; tools added later carry their aliases in their description.
  const comesLater = isOnDemand(map) && !isAlwaysOffered(tool) && map.edition.announce === 'prompt';
  const description = describeTool({ ...tool, description: told }, comesLater ? 'description' : map.edition.announce);
  const strict = tool.strict === true ? { strict: true } : {};
  return definitionNames(tool).map((name) => ({ name, description: describeUnder(name, tool, description), inputSchema, tool, ...strict }));
}
