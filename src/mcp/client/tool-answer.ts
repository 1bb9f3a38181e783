/**
 * A `CallToolResult` as a server sent it, as a result of ours: known blocks kept, others named in words, `structuredContent` checked against
 * what the tool promised. Its size was bounded on the way in; what of it a model is shown is decided further up. `_meta` is dropped.
 */
import { checkInput } from '../../core/schema/input-schema.ts';
import { isDeeperThan } from '../../core/json-depth.ts';
import { limits } from '../../core/limits.ts';
import { ContentBlock, errorResult, type JsonSchema, textResult, type ToolResult } from '../../core/tool.ts';
import { isRecord, recordOf } from '../../core/wire-value.ts';
import { ownWords } from './fault.ts';

/** `name`: the tool's own. */
export function toToolResult(name: string, answer: Record<string, unknown>, outputSchema: JsonSchema | undefined): ToolResult {
  const { content, structuredContent: structured, isError } = answer;
  if (!Array.isArray(content) && structured === undefined) {
    return errorResult('tool_error', `${name} answered something that is no tool result: it has no \`content\`.`);
  }
  if (structured !== undefined && isDeeperThan(structured, limits.maxJsonDepth)) {
    return errorResult('tool_error', `${name} answered data that nests deeper than ${limits.maxJsonDepth} levels, which is not read.`);
  }
  const blocks = toBlocks(Array.isArray(content) ? content : []);
  if (isError === true) {
    return {
      isError: true,
      code: 'tool_error',
      content: blocks.length > 0 ? blocks : errorResult('tool_error', `${name} failed, and says nothing more.`).content,
    };
  }
  const fault = outputSchema === undefined ? null : outputFault(outputSchema, structured);
  if (fault !== null) {
    return errorResult(
      'tool_error',
      `${name} answered something else than it promises in its output schema, so it is not passed on: ${fault}.`,
    );
  }
  // A model reads texts: data alone is told in one, and so is data that is no object, for which there is no other place.
  const isTold = blocks.length > 0 && (isRecord(structured) || structured === undefined || blocks.some(({ type }) => type === 'text'));
  const told = isTold || structured === undefined ? blocks : [...blocks, ...textResult(JSON.stringify(structured)).content];
  return {
    isError: false,
    content: told.length > 0 ? told : textResult('[The tool answered nothing, which is no error.]').content,
    ...(isRecord(structured) && { structuredContent: structured }),
  };
}

function toBlocks(content: readonly unknown[]): ContentBlock[] {
  const blocks = content.slice(0, limits.maxResultBlocks).map((block): ContentBlock => {
    const read = ContentBlock.safeParse(block);
    if (read.success) return read.data;
    const { type } = recordOf(block);
    return {
      type: 'text',
      text: `[A part of the answer is left out: it is of the type ${ownWords(String(type))}, which is not known here, or not whole.]`,
    };
  });
  const left = content.length - blocks.length;
  return left > 0 ? [...blocks, { type: 'text', text: `[${left} more parts of the answer are left out.]` }] : blocks;
}

/** The first faults in words; null: it is as promised. */
function outputFault(schema: JsonSchema, structured: unknown): string | null {
  if (structured === undefined) return 'there is no `structuredContent`';
  const issues = checkInput(schema, structured);
  if (issues.length === 0) return null;
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path === '' ? 'the data' : path} ${message}`)
    .join('; ');
}
