import { findToolsDescription, FindToolsInput, findToolsName } from '../core/tools/injected-tool.ts';
import { limits } from '../core/limits.ts';
import { oneLine } from '../core/text/paragraphs.ts';
import { quoted } from '../core/problem.ts';
import { signatureText } from '../core/schema/short-schema.ts';
import type { FindToolsResult, ToolFinder } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';

export const findTools = defineTool({
  name: findToolsName,
  description: findToolsDescription,
  input: FindToolsInput,
  annotations: { title: 'Find tools', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  run({ query, limit }, { find }) {
    if (find === null) throw new ToolFault('No tools can be searched in this context.');
    const found = find.find(query, limit);
    const text = found.length === 0 ? nothingFound(find, query) : [heading(find, found), ...found.map(describeTool)].join('\n');
    // `core/tools/gathered-tools.ts` reads the found tools from this field of the log.
    const tools = found.map(({ name, canonical, description, aliases, declaration }) => ({
      name,
      canonical,
      description: shortly(description),
      aliases,
      ...(declaration !== undefined && { declaration }),
    }));
    return { isError: false, content: [{ type: 'text' as const, text }], structuredContent: { tools } };
  },
});

function heading({ total, isFull }: ToolFinder, found: readonly FindToolsResult[]): string {
  const full = isFull
    ? ` This conversation has reached its limit of ${limits.maxGatheredTools} tools, so these are not added to your tool list. Call them by the names shown here.`
    : '';
  return `${found.length} of ${total} tools, best match first. You can call them now by these names.${full}`;
}

function describeTool({ name, aliases, description, inputSchema, declaration }: FindToolsResult): string {
  if (declaration !== undefined) return declaration;
  const also = aliases.length === 0 ? '' : ` (aliases: ${aliases.join(', ')})`;
  return `- ${name}${also}: ${shortly(description)}\n  arguments: ${signatureText(inputSchema, limits.maxFoundArgumentsLength)}`;
}

function nothingFound(find: ToolFinder, query: string): string {
  const near = find.similarNames(query);
  const names = near.length === 0 ? '' : ` Similar names: ${near.join(', ')}.`;
  return `None of the ${find.total} tools matches ${quoted(query)}.${names} Describe what the tool should do in other words, or give part of its name.`;
}

function shortly(description: string): string {
  const line = oneLine(description);
  return line.length <= limits.maxFoundDescriptionLength
    ? line
    : `${line.slice(0, limits.maxFoundDescriptionLength).trimEnd()}…`.toWellFormed();
}
