/**
 * What a key is served over MCP, read for each request: a toolset, or at `/mcp` what the key has equipped with the tools that equip
 * (DESIGN §10). The table says what is listed and what may be called; nothing else does. Reads the warm directory, and for `/mcp` the
 * key's equipment, which is the Catalog's.
 */
import { extendAliasMap, resolveName, toolsNamed, type AliasMap } from '../../core/alias-map.ts';
import type { EditionPointer, EditionTool } from '../../core/edition-tool.ts';
import { isAllowed } from '../../core/authority.ts';
import type { WireName } from '../../core/names.ts';
import type { Principal } from '../../core/principal.ts';
import { Problem } from '../../core/problem.ts';
import { configurationTools } from '../../core/reserved-names.ts';
import type { ToolDefinition } from '../../core/tool.ts';
import type { Directory, Equipment } from '../../ports/catalog.ts';
import { allowOf } from '../plan/agent-list.ts';
import { listedNames } from '../plan/plan-names.ts';
import { readToolset, type UsableToolset } from '../plan/read-toolset.ts';

/** A name, or `name@version`; null: what the key has equipped. */
export type ServeTarget = string | null;

export type ServedView = {
  names: AliasMap;
  /** null: no toolset stands behind it. */
  pointer: EditionPointer | null;
  /** Of `/mcp`: null elsewhere. */
  mode: Equipment['mode'] | null;
};

export type ViewDeps = {
  directory: Directory;
  aliases: boolean;
  equipment(principal: Principal): Promise<Equipment>;
  /** By wire name. */
  configuration: ConfigurationTables;
};

/** `forbidden`, `not_found`. */
export async function readView(deps: ViewDeps, principal: Principal, target: ServeTarget): Promise<ServedView> {
  if (target !== null) {
    const usable = await readToolset(deps.directory, principal, target);
    return { names: servedNames(usable, deps), pointer: usable.pointer, mode: null };
  }
  const mayConfigure = isAllowed(principal, { act: 'configure' });
  const { toolset, mode } = await deps.equipment(principal);
  const equipped = toolset === null ? null : await readEquipped(deps.directory, principal, toolset);
  if (equipped === null) return { names: mayConfigure ? deps.configuration.all : nothing, pointer: null, mode: 'configuration' };
  const { pointer } = equipped;
  const names = servedNames(equipped, deps);
  // A key that cannot configure has no use for the mode.
  if (!mayConfigure) return { names, pointer, mode: 'normal' };
  if (mode === 'configuration') return { names: deps.configuration.all, pointer, mode };
  return { names: withEntrance(names, deps.configuration), pointer, mode };
}

function servedNames({ names, list }: UsableToolset, { aliases }: ViewDeps): AliasMap {
  return listedNames(names, { aliases, ...allowOf(list) });
}

/** null: it was removed, or the key is no longer allowed to use it; then the key has nothing equipped. */
async function readEquipped(directory: Directory, principal: Principal, toolset: string): Promise<UsableToolset | null> {
  try {
    return await readToolset(directory, principal, toolset);
  } catch (error) {
    if (error instanceof Problem && (error.code === 'not_found' || error.code === 'forbidden')) return null;
    throw error;
  }
}

const nothing = extendAliasMap(null, []);

/** `told`: that no tool has this name. At `/mcp` it may be that of a tool of the other mode. */
export function toldOfModes({ names, mode, pointer }: ServedView, requested: string, told: string): string {
  if (mode === 'configuration' && pointer !== null) return `${told} exit-configuration-mode leads to the tools of ${pointer.toolset}.`;
  const isOfConfiguration = configurationTools.some((name) => name === requested || `builtin.${name}` === requested);
  if (mode !== 'normal' || !isOfConfiguration || !resolveName(names, entranceName).ok) return told;
  return `"${requested}" is a tool of configuration mode: call ${entranceName} first.`;
}

/** Made once an isolate: what is listed of a table is kept by the table. `entrance`: the tool that leads back to configuration mode. */
export type ConfigurationTables = { all: AliasMap; entrance: EditionTool | null };

export function configurationTables(definitions: readonly ToolDefinition[]): ConfigurationTables {
  const known = new Map(definitions.flatMap((definition) => (definition.server === 'builtin' ? [[definition.name, definition]] : [])));
  const tools = configurationTools.flatMap((name) => {
    const definition = known.get(name);
    return definition === undefined ? [] : [toEditionTool(definition)];
  });
  return { all: extendAliasMap(null, tools), entrance: tools.find(({ ownName }) => ownName === entranceName) ?? null };
}

const entranceName = 'enter-configuration-mode' satisfies (typeof configurationTools)[number];

const entered = new WeakMap<AliasMap, AliasMap>();

/** A toolset may list the tool itself. */
function withEntrance(names: AliasMap, { entrance }: ConfigurationTables): AliasMap {
  if (entrance === null) return names;
  const known = entered.get(names);
  if (known !== undefined) return known;
  const isListed = [entrance.canonical, entrance.wireName].some((name) =>
    toolsNamed(names, name).some(({ canonical, wireName }) => canonical === entrance.canonical || wireName === entrance.wireName),
  );
  const map = isListed ? names : extendAliasMap(names, [entrance]);
  entered.set(names, map);
  return map;
}

function toEditionTool({
  canonical,
  server,
  name,
  kind,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ToolDefinition): EditionTool {
  return {
    canonical,
    // Names in code are legal, which `defineTool` sees to.
    wireName: name as WireName,
    ownName: name,
    server,
    kind,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    aliases: [],
    state: 'ready',
    pin: '',
  };
}
