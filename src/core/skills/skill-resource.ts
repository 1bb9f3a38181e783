/** The content of one resource file: text stays text, other bytes are base64; and back to bytes, for whoever reads the file. */
import { fromBase64, toBase64 } from '../base64.ts';
import { limits } from '../limits.ts';
import { utf8Text } from '../utf8.ts';
import type { SkillResource } from './skill.ts';

/** As somebody gave it: one of the two. */
export type GivenResource = { path: string; text?: string; base64?: string };

/** One form for one content, whichever way it came, so that the same skill is the same document. A string says what is wrong. */
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
 * null: no text, or one with control characters, which JSON writes with six characters each: half a megabyte of them would not
 * fit into a row.
 */
export function toPlainText(content: Uint8Array): string | null {
  const text = utf8Text(content);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  return text === null || /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text) ? null : text;
}
