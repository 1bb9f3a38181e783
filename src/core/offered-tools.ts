/**
 * Which tools of a plan a model is sent, how and in which order. What is sent once stays where it is: tools that a conversation
 * adds stand at the end, so that a provider's cache of prefixes holds from step to step. Whatever is not sent may be called all
 * the same; that is `alias-map.ts`.
 */
import type { AliasMap } from './alias-map.ts';
import { describeTool } from './announce.ts';
import { definitionNames } from './definition-names.ts';
import { isForModels, type EditionTool } from './edition-tool.ts';
import { type Gathered, gatheredTool } from './gathered-tools.ts';
import { limits } from './limits.ts';
import { rootOf } from './old-names.ts';
import { injectedNames } from './reserved-names.ts';
import { toldTool } from './told-tools.ts';
import type { JsonSchema } from './tool.ts';

/** A definition as a model is sent it. `name` is the tool's wire name, or one of its `function` aliases. */
export type OfferedName = { name: string; description: string; inputSchema: JsonSchema; tool: EditionTool };

/** Every ready tool in the document's order, each followed by its `function` aliases; then what was added to the document's. */
export function offeredTools(map: AliasMap): readonly OfferedName[] {
  const known = all.get(map);
  if (known !== undefined) return known;
  const own = definitionsOf(map, map.own);
  const offered = map.base === undefined ? own : [...offeredTools(map.base), ...own];
  all.set(map, offered);
  return offered;
}

const all = new WeakMap<AliasMap, readonly OfferedName[]>();

/** Whether the plan has so many tools that most are sent only once they were found or called (DESIGN §4). */
export function isOnDemand(map: AliasMap): boolean {
  return map.base === undefined ? toolset(map).isOnDemand : isOnDemand(map.base);
}

/** The part of an on-demand toolset that is sent from the first step on, in its order. Of any other all there is. */
export function alwaysOffered(map: AliasMap): readonly EditionTool[] {
  return map.base === undefined ? toolset(map).always : [...alwaysOffered(map.base), ...map.own.filter(isForModels)];
}

/** How many tools of the toolset there are for models, sent or not. */
export function readyTools(map: AliasMap): number {
  return map.base === undefined ? toolset(map).ready : readyTools(map.base);
}

type Toolset = { ready: number; isOnDemand: boolean; always: readonly EditionTool[] };
const toolsets = new WeakMap<AliasMap, Toolset>();

function toolset(map: AliasMap): Toolset {
  const known = toolsets.get(map);
  if (known !== undefined) return known;
  const ready = map.own.filter(isForModels);
  const most = map.edition.onDemandAbove ?? limits.defaultOnDemandAbove;
  const always = ready.length > most ? ready.filter(isAlwaysOffered) : ready;
  const found = { ready: ready.length, isOnDemand: always.length < ready.length, always };
  toolsets.set(map, found);
  return found;
}

/** Turns need those of ours for themselves, and a caller's own are what he asks for. */
function isAlwaysOffered({ alwaysOffered: wanted, canonical, ownName, kind }: EditionTool): boolean {
  return wanted === true || kind === 'client' || injectedNames.get(ownName) === canonical;
}

/**
 * What a step is sent. On demand: what is always offered, what the conversation has gathered in the order it came, and at the end
 * `also`, a tool that this step is to call. The same list object while nothing is new, so that what is made of it is made once.
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

/** Whether a tool that is found now would be sent as well; beyond the bound it can be called, and its definition is not sent. */
export function hasRoom(map: AliasMap, gathered: readonly Gathered[]): boolean {
  return !isOnDemand(map) || gatheredInPlan(map, gathered, null).length < limits.maxGatheredTools;
}

/** Those that the plan has now, each once and none that is always offered; the oldest stay. */
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

/** The definition of a tool is the same object in every list of a table, and of those that extend it. */
const definitions = new WeakMap<AliasMap, Map<EditionTool, readonly OfferedName[]>>();

function definitionsOfOne(map: AliasMap, tool: EditionTool): readonly OfferedName[] {
  // A caller's own come and go with his turn: to keep them costs more than to make them.
  if (tool.kind === 'client') return define(map, tool);
  const root = rootOf(map);
  let known = definitions.get(root);
  if (known === undefined) {
    known = new Map();
    definitions.set(root, known);
  }
  let defined = known.get(tool);
  if (defined === undefined) {
    defined = define(map, tool);
    known.set(tool, defined);
  }
  return defined;
}

function define(map: AliasMap, tool: EditionTool): OfferedName[] {
  const { description: told, inputSchema } = toldTool(map, tool);
  // The block in the prompt is of what is sent from the first step on: what comes later brings its aliases along.
  const comesLater = isOnDemand(map) && !isAlwaysOffered(tool) && map.edition.announce === 'prompt';
  const description = describeTool({ ...tool, description: told }, comesLater ? 'description' : map.edition.announce);
  return definitionNames(tool).map((name) => ({ name, description, inputSchema, tool }));
}
