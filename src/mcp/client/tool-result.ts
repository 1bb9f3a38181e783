/**
 * Converts a server's `CallToolResult` to ours: known content blocks are copied, others described in text, and `structuredContent` is
 * checked against the tool's output schema. The response size is already bounded; callers decide how much of it a model sees.
 */
import { checkInput } from '../../core/schema/input-schema.ts';
import { isDeeperThan, isRecord, recordOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { passedMeta } from '../../core/tools/mcp-input.ts';
import { ContentBlock, errorResult, inlineIcons, type JsonSchema, textResult, type ToolResult } from '../../core/tools/tool.ts';
import { serverMessage } from './upstream-fault.ts';

/** `name`: the tool's own name. */
export function toToolResult(name: string, answer: Record<string, unknown>, outputSchema: JsonSchema | undefined): ToolResult {
  const meta = passedMeta(answer._meta);
  return { ...readResult(name, answer, outputSchema), ...(meta !== undefined && { meta }) };
}

function readResult(name: string, answer: Record<string, unknown>, outputSchema: JsonSchema | undefined): ToolResult {
  const { content, structuredContent: structured, isError } = answer;
  if (!Array.isArray(content) && structured === undefined) {
    return errorResult('tool_error', `${name} returned an invalid tool result: \`content\` is missing.`);
  }
  if (structured !== undefined && isDeeperThan(structured, limits.maxJsonDepth)) {
    return errorResult('tool_error', `${name} returned data nested deeper than ${limits.maxJsonDepth} levels, which is not accepted.`);
  }
  const blocks = toBlocks(Array.isArray(content) ? content : []);
  if (isError === true) {
    const failed = errorResult('tool_error', `${name} failed without an error message.`);
    return { ...failed, ...(blocks.length > 0 && { content: blocks }), ...(isRecord(structured) && { structuredContent: structured }) };
  }
  const fault = outputSchema === undefined ? null : outputFault(outputSchema, structured);
  if (fault !== null) {
    return errorResult('tool_error', `${name} returned a result that does not match its output schema, so it was discarded: ${fault}.`);
  }
  // Models read text, so data without text is also written as text. Data that is not an object has no other place.
  const isShown = blocks.length > 0 && (isRecord(structured) || structured === undefined || blocks.some(({ type }) => type === 'text'));
  const shown = isShown || structured === undefined ? blocks : [...blocks, ...textResult(JSON.stringify(structured)).content];
  return {
    isError: false,
    content: shown.length > 0 ? shown : textResult('[The tool returned no content. This is not an error.]').content,
    ...(isRecord(structured) && { structuredContent: structured }),
  };
}

function toBlocks(content: readonly unknown[]): ContentBlock[] {
  const blocks = content.slice(0, limits.maxResultBlocks).map((block): ContentBlock => {
    const read = ContentBlock.safeParse(block);
    if (read.success) return withPassedMeta(read.data);
    const { type } = recordOf(block);
    const text = `[A content block was left out: its type ${serverMessage(String(type))} is not supported, or it is incomplete.]`;
    return { type: 'text', text };
  });
  const left = content.length - blocks.length;
  return left > 0 ? [...blocks, { type: 'text', text: `[${left} more content blocks were left out.]` }] : blocks;
}

function withPassedMeta(block: ContentBlock): ContentBlock {
  const { _meta, ...rest } = block;
  const meta = passedMeta(_meta);
  return { ...withPassedMembers(rest), ...(meta !== undefined && { _meta: meta }) };
}

function withPassedMembers(block: ContentBlock): ContentBlock {
  if (block.type === 'resource_link') {
    const { icons, ...link } = block;
    const inline = inlineIcons(icons);
    return { ...link, ...(inline !== undefined && { icons: inline }) };
  }
  if (block.type !== 'resource') return block;
  const { _meta, ...resource } = block.resource;
  const meta = passedMeta(_meta);
  return { ...block, resource: { ...resource, ...(meta !== undefined && { _meta: meta }) } };
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
