/**
 * Recognizes events of a Messages reply that only add a piece to a block, so that similar events need not be parsed again
 * (`chunk-template.ts`). Used by `anthropic.ts`.
 */
import { isCount, isRecord, type Json } from '../../core/json/wire-value.ts';

/** The one string that may differ from the next event of the block. */
export type ConstantPart = { key: 'text' | 'partial_json' | 'thinking'; text: string; index: number };

/** null for an event that is not just a piece of text, thinking or input of one numbered block. */
export function constantPart({ type, index, delta, ...further }: Json): ConstantPart | null {
  if (type !== 'content_block_delta' || !isCount(index) || !isRecord(delta) || Object.keys(further).length > 0) return null;
  const { type: _type, ...fields } = delta;
  const [only, ...others] = Object.entries(fields);
  if (only === undefined || others.length > 0) return null;
  const [key, text] = only;
  if ((key !== 'text' && key !== 'partial_json' && key !== 'thinking') || typeof text !== 'string') return null;
  return { key, text, index };
}

/**
 * Returns the event up to its last bracket. Anthropic adds random blanks before it to hide message lengths; without them, events of one
 * block have equal forms.
 */
export function withoutPadding(data: string): string {
  let end = data.length - 1;
  if (data.charCodeAt(end) !== 0x7d) return '';
  while (data.charCodeAt(end - 1) === 0x20) end--;
  return data.slice(0, end);
}
