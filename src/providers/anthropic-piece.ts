/**
 * Events of a Messages reply that are nothing but one more piece of a block, of which the like need not be parsed again
 * (`chunk-template.ts`). Used by `anthropic.ts`.
 */
import { isCount, isRecord, type Json } from '../core/wire-value.ts';

/** The one string by which an event may differ from the next of its block. */
export type ConstantPart = { key: 'text' | 'partial_json' | 'thinking'; text: string; index: number };

/** null for an event that is more than a piece of text, thinking or input of one numbered block. */
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
 * The event up to its last bracket. Anthropic puts a random number of blanks before it, so that the lengths of messages tell nothing;
 * without them, events of one block have one form.
 */
export function withoutPadding(data: string): string {
  let end = data.length - 1;
  if (data.charCodeAt(end) !== 0x7d) return '';
  while (data.charCodeAt(end - 1) === 0x20) end--;
  return data.slice(0, end);
}
