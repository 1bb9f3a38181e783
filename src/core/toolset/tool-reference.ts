/**
 * Entries that name their tool by its definition (`refId`). Resolved when a toolset is written, so that the document contains tool
 * names, and a definition that changes later causes the tool to be held instead of lost.
 */
import type { KnownTools } from './known-tools.ts';
import { type Issue, invalidRequest } from '../problem.ts';
import { toolPin } from '../listing/tool-pin.ts';
import type { Toolset, ToolsetEntry } from './toolset.ts';

/**
 * Returns the document with `tool` in place of every `refId`. Throws `invalid_request` for a reference that matches no tool, several
 * tools, or a tool other than the named one.
 */
export async function resolveReferences(toolset: Toolset, known: KnownTools): Promise<Toolset> {
  if (toolset.tools.every(({ refId }) => refId === undefined)) return toolset;
  const byPin = await pinTable(known);
  const issues: Issue[] = [];
  const tools = toolset.tools.map((entry, index): ToolsetEntry => {
    const { refId, ...rest } = entry;
    if (refId === undefined) return entry;
    const meant = byPin.get(refId) ?? [];
    const [only, ...others] = entry.tool === undefined ? meant : meant.filter((canonical) => canonical === entry.tool);
    if (only !== undefined && others.length === 0) return { ...rest, tool: only };
    issues.push({ path: `tools[${index}].refId`, message: faultOf(entry, meant) });
    return rest;
  });
  if (issues.length > 0) throw invalidRequest(issues);
  return { ...toolset, tools };
}

async function pinTable(known: KnownTools): Promise<ReadonlyMap<string, readonly string[]>> {
  const tools = [...known.all()];
  const pins = await Promise.all(tools.map(toolPin));
  const canonicals = tools.map(({ canonical }) => canonical);
  return Map.groupBy(canonicals, (_canonical, index) => pins[index] ?? '');
}

function faultOf({ tool }: ToolsetEntry, meant: readonly string[]): string {
  if (meant.length === 0)
    return 'matches no current definition: the tool was changed or removed. GET /v1/tools lists the current definitions';
  if (tool === undefined) return `is the definition of ${meant.join(' and of ')}. Set tool as well`;
  return `is the definition of ${meant.join(', ')}, not of ${tool}`;
}
