/**
 * What an MCP client is listed in place of a toolset's tools: with `search` the tools that find, describe and call them, with `code` the one
 * that runs code over them. The toolset's own tools are `inner` of such a table: names that the table lacks resolve there, so that pages of
 * MCP Apps, which call tools by name, still work. `call-target.ts` resolves calls.
 */
import * as z from 'zod';
import { limits } from '../../core/limits/limits.ts';
import { memoizeByObject } from '../../core/memoize.ts';
import { CanonicalName } from '../../core/names/names.ts';
import { listFirst } from '../../core/text/paragraphs.ts';
import { type AliasMap, extendAliasMap } from '../../core/toolset/alias-map.ts';
import { callToolCanonical, findToolsCanonical, findToolsSpec, injectedTool } from '../../core/toolset/injected-tool.ts';
import { type EditionTool, isForModels } from '../../core/toolset/edition-tool.ts';
import type { McpTools } from '../../core/toolset/toolset.ts';
import { runCodeCanonical } from '../../core/turn/run-code.ts';
import { codeBlock, mcpDeclarations } from '../../core/turn/tool-declarations.ts';
import { codeNames } from '../plan/plan-names.ts';

/** `names`: what the key may use of the toolset. Cached by table, like lists. */
export function shownTools(names: AliasMap, mode: Exclude<McpTools, 'list'>): AliasMap {
  switch (mode) {
    case 'search':
      return searchTable(names);
    case 'code':
      return codeTable(names);
    default:
      return mode satisfies never;
  }
}

const toolName = z.string().min(1).max(limits.maxToolNameLength);

const callToolSpec = {
  name: 'call_tool',
  description: 'Calls a tool by its name, as find_tools returns it. Returns the result of the tool.',
  input: z.strictObject({
    name: toolName.describe('Name of the tool'),
    arguments: z.record(z.string(), z.unknown()).default({}).describe('Its arguments, as find_tools or describe_tool shows them'),
  }),
};
/** What it does, the called tool decides. */
export const callToolTool = injectedTool(callToolSpec, {
  canonical: CanonicalName.parse(callToolCanonical),
  annotations: { title: 'Call a tool', readOnlyHint: false },
});
export type CallToolInput = z.infer<typeof callToolSpec.input>;

const describeToolSpec = {
  name: 'describe_tool',
  description: 'Returns the complete definition of a tool: its description, and the JSON Schemas of its arguments and its result.',
  input: z.strictObject({ name: toolName.describe('Name of the tool, as find_tools returns it') }),
};
export const describeToolTool = injectedTool(describeToolSpec, { annotations: { title: 'Describe a tool', readOnlyHint: true } });
export type DescribeToolInput = z.infer<typeof describeToolSpec.input>;

const searchTable = memoizeByObject((names: AliasMap): AliasMap => {
  const description = `Finds tools by what they do. ${countOf(names)} Before you say that something cannot be done, describe it here in a few words. Returns the best matching tools with their arguments. Call them with ${callToolSpec.name}; ${describeToolSpec.name} returns a complete definition.`;
  return extendAliasMap(null, [finder(description), describeToolTool, callToolTool], names);
});

const codeTable = memoizeByObject((names: AliasMap): AliasMap => {
  const table = codeNames(names);
  const { inner } = table;
  // Code could call nothing.
  if (inner === undefined) return names;
  const { text, areAll } = codeBlock(table, mcpDeclarations);
  const tools = table.tools.map((tool) =>
    tool.canonical === runCodeCanonical ? { ...tool, description: `${tool.description}\n\n${text}` } : tool,
  );
  const description = `Finds tools by what they do. ${countOf(names)} Returns the TypeScript declarations of the best matching tools, for code.`;
  return extendAliasMap(null, areAll ? tools : [finder(description), ...tools], inner);
});

function finder(description: string): EditionTool {
  return injectedTool({ ...findToolsSpec, description }, { annotations: { title: 'Find tools', readOnlyHint: true } });
}

const maxNamedServers = 20;

function countOf(names: AliasMap): string {
  const ready = names.tools.filter((tool) => isForModels(tool) && tool.canonical !== findToolsCanonical);
  const servers = [...new Set(ready.map(({ server }) => server))];
  return `There are ${ready.length} tools, of: ${listFirst(servers, maxNamedServers)}.`;
}
