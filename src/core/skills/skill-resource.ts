/** The content of a resource file: text is stored as text, other bytes as base64; and the conversion back to bytes. */
import { fromBase64, toBase64 } from '../text/bytes.ts';
import { limits } from '../limits.ts';
import { utf8Text } from '../text/utf8.ts';
import type { SkillResource } from './skill.ts';

/** The input form: either `text` or `base64`. */
export type GivenResource = { path: string; text?: string; base64?: string };

/**
 * Returns the canonical form of the content, so that the same skill gives the same document whatever its source. A string is an error
 * message.
 */
export function toResource({ path, text, base64 }: GivenResource): SkillResource | string {
  if (text !== undefined && !text.isWellFormed()) return 'is not valid Unicode (a lone surrogate): send such bytes as base64';
  const content = text !== undefined ? new TextEncoder().encode(text) : fromBase64(base64 ?? '');
  if (content === null) return 'is not valid base64';
  if (content.byteLength > limits.maxSkillFileBytes)
    return `is ${content.byteLength} bytes; a file of a skill is at most ${limits.maxSkillFileBytes}`;
  const plain = toPlainText(content);
  return { path, bytes: content.byteLength, ...(plain === null ? { base64: toBase64(content) } : { text: plain }) };
}

export function resourceBytes({ text, base64 }: Pick<SkillResource, 'text' | 'base64'>): Uint8Array {
  return text !== undefined ? new TextEncoder().encode(text) : (fromBase64(base64 ?? '') ?? new Uint8Array());
}

/**
 * Returns null for bytes that are not text, or text with control characters: JSON writes each with six characters, and half a
 * megabyte of them would not fit in a row.
 */
export function toPlainText(content: Uint8Array): string | null {
  const text = utf8Text(content);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them.
  return text === null || /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text) ? null : text;
}
