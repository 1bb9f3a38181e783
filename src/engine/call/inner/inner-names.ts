/**
 * Which tools a tool that calls tools may call, by which names. A made tool: only the tools it was compiled with, using the plan's entries
 * (presets, approval) for those where there are any. Code and scripts: everything the plan offers.
 */
import { memoizeByObject } from '../../../core/memoize.ts';
import { extendAliasMap, resolveName, toolsNamed, type AliasMap } from '../../../core/toolset/alias-map.ts';
import { callsTools } from '../../../core/toolset/composite-tool.ts';
import { isForAppsOnly, isForModels, type EditionTool } from '../../../core/toolset/edition-tool.ts';
import { limits } from '../../../core/limits/limits.ts';
import { recordOf } from '../../../core/json/wire-value.ts';
import type { ToolResult } from '../../../core/tools/tool.ts';
import type { InnerTool } from '../../../ports/inner-calls.ts';

/** `plan`: the names that the plan offers. `above`: the names at the calling tool, which differ from `plan` only inside a made tool. */
export function innerNames(tool: EditionTool, plan: AliasMap | null, above: AliasMap | null): AliasMap | null {
  return tool.kind === 'made' ? madeNames(tool, plan ?? noPlan) : above;
}

const noPlan = extendAliasMap(null, []);

const madeNames = memoizeByObject((tool: EditionTool, plan: AliasMap) => extendAliasMap(null, standIns(tool.made?.uses ?? [], plan)));

/** Keeps the names that the code was written with, whatever the toolset calls the tools: none of them may resolve to another tool. */
function standIns(uses: readonly EditionTool[], plan: AliasMap): EditionTool[] {
  const taken = new Set(uses.flatMap((use) => [use.wireName, ...use.aliases.map(({ name }) => name)]));
  return uses.flatMap((use) => {
    const { wireName, ownName, aliases } = use;
    const [entry, ...others] = entriesOf(use.canonical, plan);
    if (entry === undefined) return [use];
    if (others.length === 0) return [{ ...entry, wireName, ownName, aliases }];
    // Several entries with different presets or approvals: only an entry's own name says which one is meant.
    const names = [...aliases, { name: wireName, mode: 'hidden' as const }];
    return [entry, ...others].filter((one) => !taken.has(one.wireName)).map((one) => ({ ...one, ownName, aliases: names }));
  });
}

/** Returns the entry that the canonical name resolves to, or all entries of the tool. */
function entriesOf(canonical: string, plan: AliasMap): readonly EditionTool[] {
  const meant = resolveName(plan, canonical);
  if (meant.ok) return meant.canonical === canonical ? [meant.tool] : [];
  return toolsNamed(plan, canonical).filter((tool) => tool.canonical === canonical);
}

/**
 * The tools shown to code: never the tool itself or UI tools, and client tools only where the client can be asked. For a made tool, whose
 * code exists already, held and missing tools are included: calling one returns an error.
 */
export function innerTools(names: AliasMap | null, { canonical: self, kind }: EditionTool, withClient: boolean): InnerTool[] {
  const tools = names?.tools ?? [];
  const isThere = (tool: EditionTool): boolean => (kind === 'made' ? tool.kind !== 'ui' && !isForAppsOnly(tool) : isForModels(tool));
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

/** Returns why the tool may not be called at this depth, or null. `chain`: canonical names of the enclosing tools, outermost first. */
export function nestingFault(chain: readonly string[], { canonical }: EditionTool): string | null {
  const shown = [...chain, canonical].join(' → ');
  if (chain.includes(canonical)) return `Not run: ${canonical} would call itself (${shown}). Write the code without calling ${canonical}.`;
  if (chain.length < limits.maxCompositeDepth) return null;
  return `Not run: nested calls may be at most ${limits.maxCompositeDepth} levels deep, and this would be one more (${shown}). Use fewer levels.`;
}

const fileTools: ReadonlySet<string> = new Set(
  ['read_file', 'write_file', 'edit_file', 'delete_file', 'list_directory'].map((name) => `builtin.${name}`),
);

/** Whether a tool only works on files. */
export function isFileTool(tool: EditionTool | null): boolean {
  return tool !== null && fileTools.has(tool.canonical);
}

/** Such a call's effects are part of the script's files and are redone with it; so are calls of tools that call file tools. */
export function worksOnFiles(tool: EditionTool | null): boolean {
  return tool !== null && (isFileTool(tool) || callsTools(tool));
}

/** Returns the stdout of a shell script, without the exit code and the notes for models that its text has. */
export function shellOutput(tool: EditionTool | null, { structuredContent }: ToolResult): string | undefined {
  const stdout = tool?.canonical === 'builtin.bash' ? recordOf(structuredContent).stdout : undefined;
  return typeof stdout === 'string' ? stdout : undefined;
}
