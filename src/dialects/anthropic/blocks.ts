/**
 * What content blocks of the Messages API contain, for `writer.ts`, and provider-specific blocks back to parts. Wire: API reference "Create a
 * Message"; guides "Extended thinking" (signatures, redacted thinking) and "Fine-grained tool streaming" (`INVALID_JSON`).
 * Data that a provider requires in the next request travels in fields that clients return unread: after reasoning as its `signature`,
 * elsewhere as a `redacted_thinking` block. It is a token of `core/model/native-token.ts`, or unchanged if the request is forwarded unchanged
 * (`isOwnWire`).
 */
import { readArguments } from '../../core/json/json-repair.ts';
import type { Citation } from '../../core/model/citation.ts';
import type { NativePart } from '../../core/model/message.ts';
import { issuedMark, nativeTokenPrefix, packNative, unpackNative } from '../../core/model/native-token.ts';
import { isRecord, listOf, mapItems, recordOf, stringOf } from '../../core/json/wire-value.ts';
import { uniqueOfAnswer } from '../../core/text/reference.ts';
import type { AnswerCall, ShownSearch } from '../answer-message.ts';
import type { AnswerIdentity } from '../dialect.ts';

export type AnswerBlock = Record<string, unknown> & { type: string };

/** The signature of unsigned thinking: the field is required, and the prefix identifies it as ours. */
export const unsignedSignature = `${nativeTokenPrefix}unsigned`;

/** The arguments as an object. Invalid arguments are marked as such, because an empty object would look usable. */
export function inputOf({ text, custom, isCut }: AnswerCall): Record<string, unknown> {
  if (custom) return { input: text };
  return readArguments(text, { ended: true, length: isCut === true }).arguments ?? { INVALID_JSON: text };
}

/** Nothing but Anthropic's own results has an `encrypted_index`; the field is required, and its provider would refuse ours. */
export function toWebCitation({ url, title = '', quote = '' }: Citation): Record<string, unknown> {
  return { type: 'web_search_result_location', url, title, cited_text: quote, encrypted_index: unsignedSignature };
}

/** The ids of searches that this service shows; those of a provider begin differently. */
const shownToolPrefix = `srvtoolu_${issuedMark}_`;

/** `answer`: the id of the answer. The content of results is not known, and their field for it is required. */
export function toSearchBlocks({ index, queries, sources, failed }: ShownSearch, answer: string): AnswerBlock[] {
  const id = `${shownToolPrefix}${uniqueOfAnswer('anthropic-messages', answer).replace(/\W/g, '_')}_${index}`;
  const caller = { type: 'direct' };
  const found = sources.map(({ url, title }) => {
    return { type: 'web_search_result', url, title: title ?? url, encrypted_content: unsignedSignature, page_age: null };
  });
  const content = failed ? { type: 'web_search_tool_result_error', error_code: 'unavailable' } : found;
  return [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: queries.join('\n') }, caller },
    { type: 'web_search_tool_result', tool_use_id: id, content, caller },
  ];
}

/** Returns whether this service made the block: its provider would refuse it. */
export function isShownSearch({ type, id, tool_use_id: of }: Record<string, unknown>): boolean {
  const own = type === 'server_tool_use' ? id : type === 'web_search_tool_result' ? of : undefined;
  return typeof own === 'string' && own.startsWith(shownToolPrefix);
}

export type NativeMeaning =
  /** The signature of the thinking before it, or of thinking without text. */
  | { is: 'signature'; text: string }
  /** Ends the text block before it. */
  | { is: 'citations'; citations: readonly unknown[] }
  | { is: 'block'; block: AnswerBlock }
  | { is: 'token'; text: string }
  /** Has no block. */
  | { is: 'nothing' };

/** On its own wire, `data` is what `providers/anthropic/reply.ts` stored. */
export function readNative(part: NativePart, { isOwnWire }: Pick<AnswerIdentity, 'isOwnWire'>): NativeMeaning {
  const data = recordOf(part.data);
  if (!isOwnWire || data.api !== 'anthropic') {
    const token = packNative(part);
    return token === null ? { is: 'nothing' } : { is: 'token', text: token };
  }
  if (data.type === 'thinking') return { is: 'signature', text: stringOf(data.signature) };
  if (data.type === 'text') return { is: 'citations', citations: listOf(data.citations) };
  if (data.type === 'block' && isBlock(data.block)) return { is: 'block', block: data.block };
  return { is: 'nothing' };
}

/** `provider`: the provider that the request's model names; null if it names an agent. */
export function fromSignature(signature: unknown, provider: string | null): NativePart | null {
  if (typeof signature !== 'string' || signature === '') return null;
  if (isOwnText(signature)) return unpackNative(signature);
  return provider === null ? null : { type: 'native', provider, data: { api: 'anthropic', type: 'thinking', signature } };
}

/** Returns a block that only a provider of this API can read: redacted thinking, or the result of a provider tool. */
export function fromBlock(block: AnswerBlock, provider: string | null): NativePart | null {
  if (isOwnText(block.data)) return unpackNative(block.data);
  return provider === null ? null : { type: 'native', provider, data: { api: 'anthropic', type: 'block', block } };
}

/** Returns whether only this service can read the block. */
export function isIssuedBlock(block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (isShownSearch(block)) return true;
  return (block.type === 'thinking' && isOwnText(block.signature)) || (block.type === 'redacted_thinking' && isOwnText(block.data));
}

/** Returns the text block without the citations of this service; the same block if it has none. */
export function withoutWebCitations(block: unknown): unknown {
  if (!isRecord(block) || !Array.isArray(block.citations)) return block;
  const citations = mapItems(block.citations, (citation) =>
    recordOf(citation).encrypted_index === unsignedSignature ? undefined : citation,
  );
  return citations === block.citations ? block : { ...block, citations: citations.length === 0 ? null : citations };
}

function isOwnText(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(nativeTokenPrefix);
}

function isBlock(value: unknown): value is AnswerBlock {
  return isRecord(value) && typeof value.type === 'string';
}
