/**
 * The `tools/list` of an MCP client (2024-11-05 to 2026-07-28): the tools in the document's order, each followed by its `function` aliases.
 * A tool that cannot be called, because it is held or missing, is listed with the reason. Built once per table of names, in pages, so that a warm list is a lookup. MCP has no system prompt, so
 * wherever a toolset announces aliases, they are in the descriptions.
 */
import { memoizeByObject } from '../../core/memoize.ts';
import type { AliasMap } from '../../core/toolset/alias-map.ts';
import { describeTool, describeUnder, visibleAliases, definitionNames, modelDefinition } from '../../core/toolset/model-definitions.ts';
import { isForAppsOnly, isForModels, type EditionTool } from '../../core/toolset/edition-tool.ts';
import { limits } from '../../core/limits/limits.ts';
import { toWireName } from '../../core/names/names.ts';
import { madeAnnotations } from '../../core/toolset/compile-made.ts';
import { withOwnMeta } from '../../core/tools/mcp-input.ts';
import { contentText, inlineIcons, type JsonSchema, type ToolAnnotations, type ToolPresentation } from '../../core/tools/tool.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { MB } from '../../core/limits/units.ts';
import { stateFault } from '../call/prepare-call.ts';
import { pageNamesOf, withPages } from './ui-pages.ts';

const maxMcpPageBytes = 1 * MB;

/** `Tool` of MCP. */
export type ListedTool = {
  name: string;
  title?: string;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema;
  annotations?: ToolAnnotations;
  icons?: ToolPresentation['icons'];
  execution?: Record<string, unknown>;
  /** `state`: `held` or `missing`; absent: it can be called. */
  _meta: { canonical: string; aliases: string[]; state?: EditionTool['state']; renamedTo?: string } & Record<string, unknown>;
};

type Pages = readonly (readonly ListedTool[])[];

/** Returns at least one page. Cached. `withApps`: for a client that shows pages of MCP apps, with the tools that only these call. */
export function servedPages(names: AliasMap, withApps: boolean): Pages {
  return withApps ? pagesWithApps(names) : pagesForModels(names);
}

/** Whether the list of a client that shows pages of MCP apps is another one. Cached. */
export const hasToolsOfApps = memoizeByObject(({ tools }: AliasMap): boolean => tools.some(isForAppsOnly));

const pagesForModels = memoizeByObject((names: AliasMap): Pages => pagesOf(names, isForModels));
const pagesWithApps = memoizeByObject(
  (names: AliasMap): Pages =>
    hasToolsOfApps(names) ? pagesOf(names, (tool) => isForModels(tool) || isForAppsOnly(tool)) : pagesForModels(names),
);

function pagesOf(names: AliasMap, isListed: (tool: EditionTool) => boolean): Pages {
  return toPages(names.tools.flatMap((tool) => (tool.state === 'ready' && isListed(tool) ? listTool(names, tool) : listStopped(tool))));
}

/** Returns the schema of a tool's structured results, as `tools/list` shows it: none if the entry may change or leave out the structured form. */
export function servedOutputSchema({ outputSchema, result }: EditionTool): JsonSchema | undefined {
  return result?.pick === undefined && result?.maxBytes === undefined ? outputSchema : undefined;
}

/** Returns a tool that can be called under its name, and under each of its `function` aliases. */
export function listTool(names: AliasMap, tool: EditionTool): ListedTool[] {
  const definition = modelDefinition(names, tool);
  const announce = names.aliases && names.edition.announce !== 'none' ? 'description' : 'none';
  const outputSchema = servedOutputSchema(tool);
  const annotations = madeAnnotations(tool);
  // A person recognizes a tool by its own name, where the wire name is only made of it.
  const isMade = tool.wireName !== tool.ownName && tool.wireName === toWireName(tool.canonical, tool.ownName);
  const ownTitle = isMade && annotations?.title === undefined ? tool.ownName : undefined;
  const { title = ownTitle, execution, meta, annotations: more, others } = tool.presentation ?? {};
  const icons = tool.trusted === true ? tool.presentation?.icons : inlineIcons(tool.presentation?.icons);
  const shown = {
    ...others,
    ...(title !== undefined && { title }),
    description: describeTool({ ...tool, description: definition.description }, announce),
    inputSchema: objectSchema(definition.inputSchema),
    ...(outputSchema !== undefined && { outputSchema }),
    ...((annotations ?? more) !== undefined && { annotations: { ...more, ...annotations } }),
    ...(icons !== undefined && { icons }),
    ...(execution !== undefined && { execution: servedExecution(execution) }),
    _meta: withOwnMeta(meta === undefined ? {} : withPages(meta, (own) => pageNamesOf(names).nameOf(tool.server, own) ?? own), {
      canonical: tool.canonical,
      aliases: announce === 'none' ? [] : visibleAliases(tool),
    }),
  };
  return definitionNames(tool).map((name) => ({ name, ...shown, description: describeUnder(name, tool, shown.description) }));
}

/** Returns a tool that cannot be called, with the reason; none for one that is not listed. The definition is not shown: nobody may have reviewed it. */
export function listStopped(tool: EditionTool): ListedTool[] {
  const { wireName: name, canonical, kind, state, renamedTo } = tool;
  const fault = kind === 'ui' ? null : stateFault(tool);
  if (fault === null) return [];
  const _meta = { canonical, aliases: [], state, ...(renamedTo !== undefined && { renamedTo }) };
  return [{ name, description: contentText(fault.content), inputSchema: { type: 'object' }, _meta }];
}

/** We wait for a server's task, so no tool requires one. Clients of SDK 1 refuse to call a tool that does, although we announce no tasks. */
function servedExecution(execution: Record<string, unknown>): Record<string, unknown> {
  return execution.taskSupport === 'required' ? { ...execution, taskSupport: 'optional' } : execution;
}

/** Adds `type: "object"`, which MCP requires and other kinds of definitions may omit. */
function objectSchema(schema: JsonSchema): JsonSchema {
  return schema.type === 'object' ? schema : { ...schema, type: 'object' };
}

function toPages(tools: readonly ListedTool[]): ListedTool[][] {
  const made: ListedTool[][] = [[]];
  let bytes = 0;
  for (const tool of tools) {
    const size = utf8Length(JSON.stringify(tool));
    const page = made.at(-1);
    const isFull = page !== undefined && page.length > 0 && (page.length >= limits.maxMcpPageItems || bytes + size > maxMcpPageBytes);
    if (page === undefined || isFull) {
      made.push([tool]);
      bytes = size;
    } else {
      page.push(tool);
      bytes += size;
    }
  }
  return made;
}
