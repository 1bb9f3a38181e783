/**
 * The event and item types of OpenAI's Responses API, for its reply reader (`openai-responses/dialect.ts`). Wire: OpenAI API reference, "Responses:
 * streaming events" and the item types of `input` (SDK 7.57).
 */
import type { Usage } from '../../core/model/chat-event.ts';
import { canonicalJson } from '../../core/hash.ts';
import { isDeeperThan } from '../../core/json/json-depth.ts';
import { limits } from '../../core/limits.ts';
import { isCount, isRecord, type Json, listOf, recordOf, stringOf, tryParse } from '../../core/json/wire-value.ts';

/** The kind of a piece's text. */
export type ContentKind = 'text' | 'refusal' | 'reasoning' | 'arguments';

/** Content parts, numbered apart from summary parts. The arguments of a call are part 0. */
export function contentPart(index: number): number {
  return -1 - index;
}

/** Returns the part that an event belongs to. */
export function partOf({ summary_index: summary, content_index: content }: Json): number {
  return isCount(summary) ? summary : contentPart(isCount(content) ? content : 0);
}

/** Events with a piece of a part, or all of it. */
export const streamPieces: ReadonlyMap<string, StreamPiece> = new Map([
  ...piecesOf('output_text', 'text', 'text'),
  ...piecesOf('refusal', 'refusal', 'refusal'),
  ...piecesOf('reasoning_summary_text', 'reasoning', 'text'),
  ...piecesOf('reasoning_text', 'reasoning', 'text'),
  ...piecesOf('function_call_arguments', 'arguments', 'arguments'),
  ...piecesOf('custom_tool_call_input', 'arguments', 'input'),
]);

/** `field`: the field of the text; `isWhole`: the event repeats the whole text. */
export type StreamPiece = { said: ContentKind; field: string; isWhole: boolean };

function piecesOf(name: string, said: ContentKind, whole: string): [string, StreamPiece][] {
  return [
    [`response.${name}.delta`, { said, field: 'delta', isWhole: false }],
    [`response.${name}.done`, { said, field: whole, isWhole: true }],
  ];
}

/** Events that end a response, and their status. */
export const terminals = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
  ['response.cancelled', 'cancelled'],
]);
export const finalStatuses = new Set(terminals.values());

/**
 * Items of provider tools that the next request returns. Not those that wait for a result (`computer_call`, `local_shell_call`,
 * `mcp_approval_request` …): no result is ever sent, and without it the next request is rejected.
 */
export const resultItems = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call', 'mcp_list_tools', 'mcp_call'],
  ...['tool_search_call', 'tool_search_output', 'program', 'program_output', 'compaction'],
]);

export type OfferedItem = { custom: ReadonlySet<string>; hasServerTools: boolean };

/** What the request offered, as the reply repeats it. */
export function readOfferedItem(tools: readonly unknown[]): OfferedItem {
  const all = tools.flatMap((tool) => [recordOf(tool), ...listOf(recordOf(tool).tools).map(recordOf)]);
  const custom = new Set(all.filter((tool) => tool.type === 'custom').map((tool) => stringOf(tool.name)));
  return { custom, hasServerTools: all.some(({ type }) => type !== 'function' && type !== 'custom' && type !== 'namespace') };
}

/**
 * xAI streams calls of its own tools as custom calls under names that were not offered, such as `x_keyword_search` for `{"type":
 * "x_search"}` (recorded: grok-4-fast-server-x-search; vercel/ai#9896).
 */
export function isServerItem(name: string, offered: OfferedItem | null): boolean {
  return offered?.hasServerTools === true && !offered.custom.has(name);
}

export function itemInputOf({ type, input, arguments: args }: Json): unknown {
  return type === 'custom_tool_call' ? input : args;
}

/** Servers repeat the same arguments with other blanks or key order. */
export function isSameJson(a: string, b: string): boolean {
  const [one, other] = [tryParse(a), tryParse(b)];
  if (one === undefined || [one, other].some((value) => isDeeperThan(value, limits.maxJsonDepth))) return false;
  return canonicalJson(one) === canonicalJson(other);
}

export function readUsage(value: unknown): Usage | null {
  if (!isRecord(value) || !isCount(value.input_tokens)) return null;
  const usage: Usage = { inputTokens: value.input_tokens, outputTokens: isCount(value.output_tokens) ? value.output_tokens : 0 };
  const { reasoning_tokens: reasoning } = recordOf(value.output_tokens_details);
  const { cached_tokens: cached } = recordOf(value.input_tokens_details);
  if (isCount(reasoning)) usage.reasoningTokens = reasoning;
  if (isCount(cached)) usage.cachedInputTokens = cached;
  return usage;
}
