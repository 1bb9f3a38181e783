/**
 * What types of events and items mean in OpenAI's Responses API, for the reader of its replies (`openai-responses.ts`). Wire: OpenAI
 * API reference, "Responses: streaming events" and the item types of `input` (SDK 7.57).
 */
import type { Usage } from '../core/chat-event.ts';
import { canonicalJson } from '../core/hash.ts';
import { isDeeperThan } from '../core/json-depth.ts';
import { limits } from '../core/limits.ts';
import { isCount, isRecord, type Json, listOf, recordOf, textOf, tryParse } from '../core/wire-value.ts';

/** What pieces say. */
export type Said = 'text' | 'refusal' | 'reasoning' | 'arguments';

/** Parts of an item's content, apart from those of its summary. The arguments of a call are its part 0. */
export function contentPart(index: number): number {
  return -1 - index;
}

/** The part that an event is about. */
export function partOf({ summary_index: summary, content_index: content }: Json): number {
  return isCount(summary) ? summary : contentPart(isCount(content) ? content : 0);
}

/** Events that say a piece of a part, or all of it. */
export const pieces: ReadonlyMap<string, Piece> = new Map([
  ...piecesOf('output_text', 'text', 'text'),
  ...piecesOf('refusal', 'refusal', 'refusal'),
  ...piecesOf('reasoning_summary_text', 'reasoning', 'text'),
  ...piecesOf('reasoning_text', 'reasoning', 'text'),
  ...piecesOf('function_call_arguments', 'arguments', 'arguments'),
  ...piecesOf('custom_tool_call_input', 'arguments', 'input'),
]);

/** `field` holds the text; `isWhole`: all of it, once more. */
type Piece = { said: Said; field: string; isWhole: boolean };

function piecesOf(name: string, said: Said, whole: string): [string, Piece][] {
  return [
    [`response.${name}.delta`, { said, field: 'delta', isWhole: false }],
    [`response.${name}.done`, { said, field: whole, isWhole: true }],
  ];
}

/** Events that end a response, and the status that they tell. */
export const terminals = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
  ['response.cancelled', 'cancelled'],
]);
export const finalStatuses = new Set(terminals.values());

/**
 * Items of the provider's own tools that the next request has again. Not those that wait for an answer (`computer_call`,
 * `local_shell_call`, `mcp_approval_request` …): nobody here gives one, and without it the next request is refused.
 */
export const returned = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call', 'mcp_list_tools', 'mcp_call'],
  ...['tool_search_call', 'tool_search_output', 'program', 'program_output', 'compaction'],
]);

export type Offered = { custom: ReadonlySet<string>; hasServerTools: boolean };

/** What the request offered, as the reply repeats it. */
export function readOffered(tools: readonly unknown[]): Offered {
  const all = tools.flatMap((tool) => [recordOf(tool), ...listOf(recordOf(tool).tools).map(recordOf)]);
  const custom = new Set(all.filter((tool) => tool.type === 'custom').map((tool) => textOf(tool.name)));
  return { custom, hasServerTools: all.some(({ type }) => type !== 'function' && type !== 'custom' && type !== 'namespace') };
}

/**
 * xAI streams the calls of its own tools as custom calls under names that nobody offered, such as `x_keyword_search` for
 * `{"type": "x_search"}` (recorded: grok-4-fast-server-x-search; vercel/ai#9896).
 */
export function isServers(name: string, offered: Offered | null): boolean {
  return offered?.hasServerTools === true && !offered.custom.has(name);
}

export function inputOf({ type, input, arguments: args }: Json): unknown {
  return type === 'custom_tool_call' ? input : args;
}

/** Servers write the same arguments twice with other blanks, or another order of keys. */
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
