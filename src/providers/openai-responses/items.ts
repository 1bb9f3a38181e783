/**
 * The items and events of a reply of OpenAI's Responses API, for `reply.ts`, which reads them; and the lookup of an event's item: servers
 * number and name items differently, or not at all. Wire: OpenAI API reference, "Responses: streaming events" and the item types of `input`
 * (SDK 7.57).
 */
import type { GrowingText } from '../../core/model/growing-text.ts';
import { isCount, type Json, recordOf, stringOf, listOf, tryParse, isDeeperThan } from '../../core/json/wire-value.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import { readCost, toUsage } from '../wire-usage.ts';
import { canonicalJson } from '../../core/hash.ts';
import { limits } from '../../core/limits/limits.ts';

/** One item of the reply while it is streamed. */
export type ResponseItem = {
  index: number;
  /** For a call, once known. */
  callId: string;
  /** `ours`: a client call, which the assembler tracks; `unnamed`: pieces of a call that has not begun; `theirs`: run by the provider. */
  kind: 'other' | 'unnamed' | 'ours' | 'theirs';
  isWhole: boolean;
  /** The text of each part so far: summaries by their index, others by `contentPart`. */
  said: Map<number, GrowingText>;
  /** The item as it began. */
  begun: Json;
};

export class ReplyItems {
  /** By `output_index`, because some gateways change item ids from event to event (recorded: gpt-5.3-codex-item-id-rotates). */
  readonly #items = new Map<number, ResponseItem>();
  /** By item id and call id, for servers with missing or wrong indexes. */
  readonly #byId = new Map<string, ResponseItem>();
  /** The item of events that name none. */
  latest: ResponseItem | null = null;

  get size(): number {
    return this.#items.size;
  }

  values(): IterableIterator<ResponseItem> {
    return this.#items.values();
  }

  /** Returns the item at this index. */
  at(index: number): ResponseItem {
    return this.#items.get(index) ?? this.#open(index);
  }

  /** Returns the item of a piece: by its index, otherwise by its item id, otherwise the latest. */
  ofPiece({ output_index: place, item_id: id }: Json): ResponseItem {
    if (isCount(place)) return this.at(place);
    return this.#byId.get(stringOf(id)) ?? this.latest ?? this.#open(this.#items.size);
  }

  /**
   * Returns the item that begins or is complete. An index in use belongs to another item if that one is complete or another call begins;
   * the end of an open item is its own regardless of ids.
   */
  ofItem({ output_index: place, item: value }: Json, begins: boolean): ResponseItem {
    const { id, call_id: callId } = recordOf(value);
    const named = this.#byId.get(stringOf(callId)) ?? this.#byId.get(stringOf(id));
    const known = (isCount(place) ? this.#items.get(place) : undefined) ?? named;
    const differs = known !== undefined && stringOf(callId) !== '' && known.callId !== '' && known.callId !== callId;
    const isAnother = known === undefined || (differs && (begins || known.isWhole));
    const item = isAnother ? this.#open(isCount(place) ? place : this.#items.size) : known;
    for (const name of [stringOf(id), stringOf(callId)]) if (name !== '') this.#byId.set(name, item);
    return item;
  }

  #open(index: number): ResponseItem {
    const item: ResponseItem = { index, callId: '', kind: 'other', isWhole: false, said: new Map(), begun: {} };
    this.#items.set(index, item);
    this.latest = item;
    return item;
  }
}

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
  const usage = recordOf(value);
  const inputs = recordOf(usage.input_tokens_details);
  return toUsage({
    input: usage.input_tokens,
    output: usage.output_tokens,
    total: usage.total_tokens,
    reasoning: recordOf(usage.output_tokens_details).reasoning_tokens,
    cached: inputs.cached_tokens,
    written: inputs.cache_write_tokens,
    cost: readCost(usage),
  });
}
