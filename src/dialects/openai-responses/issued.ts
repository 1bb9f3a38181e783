/**
 * Items of Responses that this service makes and that a provider would not know: reasoning with a token, searches that it shows, and what it
 * compacted.
 */
import { type Json, recordOf } from '../../core/json/wire-value.ts';
import { issuedMark, packNative, unpackNative } from '../../core/model/native-token.ts';

/**
 * Returns the items without reasoning whose token only this service can read and without searches that it showed, which the provider would
 * reject, and with what it compacted as text; the same list without any. Takes unvalidated items.
 */
export function withoutIssued(items: readonly unknown[]): readonly unknown[] {
  const left = items.flatMap((item) => {
    const compacted = readCompaction(recordOf(item));
    if (compacted !== null) return [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: compacted }] }];
    return isIssuedReasoning(item) || isIssuedSearch(item) ? [] : [item];
  });
  return left.length === items.length && left.every((item, index) => item === items[index]) ? items : left;
}

function isIssuedReasoning(item: unknown): boolean {
  const { type, encrypted_content: token } = recordOf(item);
  return type === 'reasoning' && typeof token === 'string' && unpackNative(token) !== null;
}

/** Of the ids of searches that this service shows; those of OpenAI begin differently. */
export const shownSearchPrefix = `ws_${issuedMark}`;

function isIssuedSearch(item: unknown): boolean {
  const { type, id } = recordOf(item);
  return type === 'web_search_call' && typeof id === 'string' && id.startsWith(shownSearchPrefix);
}

const compactor = 'compaction';

/** The `encrypted_content` of a compaction item of this service; null: the summary is too long to carry. */
export function packCompaction(summary: string): string | null {
  return packNative({ type: 'native', provider: compactor, data: { summary } });
}

/**
 * Returns the text in place of a compaction item that this service made; null: any other item. It is the assistant's, so that a history with it
 * counts as one that this service did not produce.
 */
export function readCompaction({ type, encrypted_content: token }: Json): string | null {
  const native = type === 'compaction' && typeof token === 'string' ? unpackNative(token) : null;
  const { summary } = recordOf(native?.data);
  return native?.provider === compactor && typeof summary === 'string' ? `Summary of the conversation before:\n\n${summary}` : null;
}
