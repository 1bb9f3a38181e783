/**
 * What a key is served over MCP, read for each request: a toolset, or at `/mcp` the toolset the key has equipped together with the tools
 * that equip (contract §10). Exactly the tools of the table are listed, and they and those of its `inner` can be called. Reads the cached directory, and for `/mcp` the key's
 * equipment from the Catalog.
 */
import { once } from '../../core/memoize.ts';
import { extendAliasMap, resolveName, type AliasMap } from '../../core/toolset/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../core/toolset/edition-tool.ts';
import { isAllowed } from '../../core/people/authority.ts';
import type { WireName } from '../../core/names/names.ts';
import type { Principal } from '../../core/people/principal.ts';
import { configurationTools } from '../../core/names/reserved-names.ts';
import type { ToolDefinition } from '../../core/tools/tool.ts';
import type { Equipment } from '../../ports/catalog.ts';
import type { Directory } from '../../ports/directory.ts';
import { allowOf, findToolset, readToolset, type UsableToolset } from '../plan/read-toolset.ts';
import { listedNames, withTool } from '../plan/plan-names.ts';
import { McpTools } from '../../core/toolset/toolset.ts';

/** A name, or `name@version`, also with `?tools=` and what is listed of it; null: what the key has equipped. Names the endpoint in sessions and states. */
export type ServeTarget = string | null;

/** `tools`: absent for what the toolset says. */
export function serveTarget(toolset: string, tools: McpTools | undefined): string {
  return tools === undefined ? toolset : `${toolset}?tools=${tools}`;
}

function readTarget(target: string): { toolset: string; tools?: McpTools } {
  const [toolset = '', tools] = target.split('?tools=');
  const read = McpTools.safeParse(tools);
  return read.success ? { toolset, tools: read.data } : { toolset };
}

export type ServedView = {
  names: AliasMap;
  /** null: no toolset is served. */
  pointer: EditionPointer | null;
  /** The mode of `/mcp`; null elsewhere. */
  mode: Equipment['mode'] | null;
  /** Whether the key may use only the tools that agents list. */
  isNarrowed?: boolean;
};

export type ViewDeps = {
  directory: Directory;
  aliases: boolean;
  equipment(principal: Principal): Promise<Equipment>;
  /** The configuration tools. */
  configuration(): ConfigurationTables;
};

/** Throws `forbidden` and `not_found`. */
export async function readView(deps: ViewDeps, principal: Principal, target: ServeTarget): Promise<ServedView> {
  if (target !== null) {
    const { toolset, tools } = readTarget(target);
    const usable = await readToolset(deps.directory, principal, toolset);
    return { names: await servedNames(usable, deps, tools), pointer: usable.pointer, mode: null, isNarrowed: usable.list !== null };
  }
  const mayConfigure = isAllowed(principal, { act: 'configure' });
  const { toolset, mode } = await deps.equipment(principal);
  // A key whose toolset was removed, or that may no longer use it, has nothing equipped.
  const equipped = toolset === null ? null : await findToolset(deps.directory, principal, toolset);
  if (equipped === null) return { names: mayConfigure ? deps.configuration().all : nothing, pointer: null, mode: 'configuration' };
  const { pointer, list } = equipped;
  const isNarrowed = list !== null;
  const names = await servedNames(equipped, deps);
  // A key that cannot configure is always in normal mode.
  if (!mayConfigure) return { names, pointer, mode: 'normal', isNarrowed };
  const { all, entrance } = deps.configuration();
  if (mode === 'configuration') return { names: all, pointer, mode };
  return { names: entrance === null ? names : withTool(names, entrance), pointer, mode, isNarrowed };
}

async function servedNames(
  { names, list }: UsableToolset,
  { aliases }: ViewDeps,
  tools = names.edition.mcpTools ?? 'list',
): Promise<AliasMap> {
  const all = listedNames(names, { aliases, ...allowOf(list) });
  if (tools === 'list') return all;
  const { shownTools } = await loadShownTools();
  return shownTools(all, tools);
}

/** Not part of the eager start: few toolsets are listed otherwise. */
const loadShownTools = once(() => import('./shown-tools.ts'));

/** Returns the tools of the toolset, whatever is listed of them. */
export function toolsBehind({ names }: Pick<ServedView, 'names'>): AliasMap {
  return names.inner ?? names;
}

const nothing = extendAliasMap(null, []);

/** Adds a hint to the message that no tool has this name (`message`): at `/mcp` the name may be that of a tool of the other mode. */
export function withModeHint({ names, mode, pointer }: ServedView, requested: string, message: string): string {
  if (mode === 'configuration' && pointer !== null)
    return `${message} Call exit-configuration-mode to get the tools of ${pointer.toolset}.`;
  const isOfConfiguration = configurationTools.some((name) => name === requested || `builtin.${name}` === requested);
  if (mode !== 'normal' || !isOfConfiguration || !resolveName(names, entranceName).ok) return message;
  return `"${requested}" is a tool of configuration mode: call ${entranceName} first.`;
}

/** `entrance`: the tool that returns to configuration mode. */
type ConfigurationTables = { all: AliasMap; entrance: EditionTool | null };

/** Built once per isolate, when they are first used: lists are cached by table. */
export function configurationTables(definitions: () => readonly ToolDefinition[]): () => ConfigurationTables {
  let made: ConfigurationTables | undefined;
  return () => (made ??= makeTables(definitions()));
}

function makeTables(definitions: readonly ToolDefinition[]): ConfigurationTables {
  const known = new Map(definitions.flatMap((definition) => (definition.server === 'builtin' ? [[definition.name, definition]] : [])));
  const tools = configurationTools.flatMap((name) => {
    const definition = known.get(name);
    return definition === undefined ? [] : [toEditionTool(definition)];
  });
  return { all: extendAliasMap(null, tools), entrance: tools.find(({ ownName }) => ownName === entranceName) ?? null };
}

const entranceName = 'enter-configuration-mode' satisfies (typeof configurationTools)[number];

function toEditionTool(definition: ToolDefinition): EditionTool {
  const { canonical, server, name, kind, description, inputSchema, outputSchema, annotations } = definition;
  return {
    ...{ canonical, server, kind, description, inputSchema, ownName: name, aliases: [], state: 'ready', pin: '' },
    // `defineTool` checks that built-in names are valid wire names.
    wireName: name as WireName,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
  };
}
