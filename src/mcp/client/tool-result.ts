/**
 * Converts a server's `CallToolResult` to ours, without loss; `structuredContent` is checked against the tool's output schema. The response size is already bounded; callers decide how much of it a model sees.
 */
import { checkInput } from '../../core/schema/input-schema.ts';
import { isDeeperThan } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { passedMeta } from '../../core/tools/mcp-input.ts';
import { readBlock } from '../../core/tools/foreign-block.ts';
import { type ContentBlock, errorResult, type JsonSchema, type ToolResult } from '../../core/tools/tool.ts';

/** `name`: the tool's own name. */
export function toToolResult(name: string, answer: Record<string, unknown>, outputSchema: JsonSchema | undefined): ToolResult {
  const { content, structuredContent: structured, isError } = answer;
  const meta = passedMeta(answer._meta);
  if (!Array.isArray(content) && structured === undefined)
    return errorResult('tool_error', `${name} returned an invalid tool result: \`content\` is missing.`);
  if (isDeeperThan([structured, meta], limits.maxJsonDepth + 1))
    return errorResult('tool_error', `${name} returned data nested deeper than ${limits.maxJsonDepth} levels, which is not accepted.`);
  const fault = outputSchema === undefined || isError === true ? null : outputFault(outputSchema, structured);
  if (fault !== null)
    return errorResult('tool_error', `${name} returned a result that does not match its output schema, so it was discarded: ${fault}.`);
  return {
    isError: isError === true,
    ...(isError === true && { code: 'tool_error' as const }),
    content: toBlocks(Array.isArray(content) ? content : []),
    ...(structured !== undefined && { structuredContent: structured }),
    ...(meta !== undefined && { meta }),
  };
}

function toBlocks(content: readonly unknown[]): ContentBlock[] {
  const blocks = content.slice(0, limits.maxResultBlocks).map(readBlock);
  const left = content.length - blocks.length;
  return left > 0 ? [...blocks, { type: 'text', text: `[${left} more content blocks were left out.]` }] : blocks;
}

/** Returns the first faults as text, or null if the data matches the schema. */
function outputFault(schema: JsonSchema, structured: unknown): string | null {
  if (structured === undefined) return '`structuredContent` is missing';
  const issues = checkInput(schema, structured);
  if (issues.length === 0) return null;
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'the data' : path} ${message}`)
    .join('; ');
}
