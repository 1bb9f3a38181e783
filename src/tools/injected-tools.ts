/**
 * The tools that a turn gets when it needs them (`engine/plan/plan-names.ts`): `find_tools`, `fetch_result` and `use_skill`. Their
 * definitions are in `core/toolset/injected-tool.ts` and `core/skills/skill-prompt.ts`.
 */
import { fetchResultSpec, findToolsSpec } from '../core/toolset/injected-tool.ts';
import { fetchCall } from '../core/toolset/result-bound.ts';
import { useSkillSpec } from '../core/skills/skill-prompt.ts';
import { limits } from '../core/limits/limits.ts';
import { oneLine } from '../core/text/paragraphs.ts';
import { quoted } from '../core/problem.ts';
import { signatureText } from '../core/schema/short-schema.ts';
import { textResult } from '../core/tools/tool.ts';
import type { FindToolsResult, ToolFinder } from '../ports/tool-executor.ts';
import { defineTool, ToolFault } from './define-tool.ts';
import { cutToLength } from '../core/text/utf8.ts';

export const findTools = defineTool({
  ...findToolsSpec,
  annotations: { title: 'Find tools', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  usesFiles: false,
  async run({ query, limit }, { find }) {
    if (find === null) throw new ToolFault('No tools can be searched in this context.');
    const found = await find.find(query, limit);
    const text = found.length === 0 ? nothingFound(find, query) : [heading(find, found), ...found.map(describeTool)].join('\n');
    // `core/turn/gathered-tools.ts` reads the found tools from this field of the log.
    const tools = found.map(({ name, canonical, description, aliases, declaration }) => ({
      name,
      canonical,
      description: shortDescription(description),
      aliases,
      ...(declaration !== undefined && { declaration }),
    }));
    return { ...textResult(text), structuredContent: { tools } };
  },
});

const ways = {
  name: 'You can call them now by these names.',
  code: 'Code can call them by these names.',
  call_tool: 'Call them with call_tool by these names.',
} as const satisfies Record<ToolFinder['calledBy'], string>;

function heading({ total, isFull, calledBy }: ToolFinder, found: readonly FindToolsResult[]): string {
  const full = isFull
    ? ` This conversation has reached its limit of ${limits.maxGatheredTools} tools, so these are not added to your tool list. Call them by the names shown here.`
    : '';
  return `${found.length} of ${total} tools, best match first. ${ways[calledBy]}${full}`;
}

function describeTool({ name, aliases, description, inputSchema, declaration }: FindToolsResult): string {
  if (declaration !== undefined) return declaration;
  const also = aliases.length === 0 ? '' : ` (aliases: ${aliases.join(', ')})`;
  return `- ${name}${also}: ${shortDescription(description)}\n  arguments: ${signatureText(inputSchema, limits.maxFoundArgumentsLength)}`;
}

function nothingFound(find: ToolFinder, query: string): string {
  const near = find.similarNames(query);
  const names = near.length === 0 ? '' : ` Similar names: ${near.join(', ')}.`;
  return `None of the ${find.total} tools matches ${quoted(query)}.${names} Describe what the tool should do in other words, or give part of its name.`;
}

export function shortDescription(description: string): string {
  return cutToLength(oneLine(description), limits.maxFoundDescriptionLength);
}

export const fetchResult = defineTool({
  ...fetchResultSpec,
  annotations: {
    title: 'Read more of a long result',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  usesFiles: false,
  run({ callId, offset, maxBytes }, { results }) {
    if (results === null) throw new ToolFault('Results are stored per session, and this call has no session.');
    const piece = results.read(callId, offset, maxBytes);
    if (piece === null) {
      throw new ToolFault(
        `No stored result for ${callId}: it was short enough to be shown in full, belongs to another session, or has been deleted.`,
      );
    }
    const { text, media, nextOffset, totalBytes } = piece;
    if (text === '' && offset > 0) throw new ToolFault(`The result of ${callId} ends before offset ${offset}. Use a smaller offset.`);
    const rest =
      nextOffset === null
        ? `This is the end of the result (${totalBytes} bytes in total).`
        : `${totalBytes} bytes in total. To continue, call ${fetchCall({ callId, offset: nextOffset })}`;
    return {
      isError: false,
      content: [{ type: 'text' as const, text }, ...media, { type: 'text' as const, text: `[${rest}]` }],
      structuredContent: { callId, offset, nextOffset, totalBytes },
    };
  },
});

export const useSkill = defineTool({
  ...useSkillSpec,
  annotations: { title: 'Load a skill', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  usesFiles: false,
  run({ name }, { skills }) {
    if (skills === null) throw new ToolFault('No skills are available. Only agents that list skills can use them.');
    const text = skills.read(name.trim());
    if (text === null) throw new ToolFault(`Unknown skill ${JSON.stringify(name)}. Available skills: ${skills.names().join(', ')}.`);
    const tools = skills.tools(name.trim());
    // `core/turn/gathered-tools.ts` reads the skill's tools from this field of the log.
    return { ...textResult(text), ...(tools.length > 0 && { structuredContent: { tools } }) };
  },
});
