/** Resource files of a skill as its document has them: text, or bytes in base64. */
import type { components } from '../../../../client/src/index.ts';

export type SkillDraft = { content: string; resources: NonNullable<components['schemas']['Skill']['resources']> };
type SkillFile = SkillDraft['resources'][string];

/** null: the file is not text. */
export function fileText(file: SkillFile): string | null {
  if (typeof file === 'string') return file;
  return 'text' in file ? file.text : null;
}

/** Size in bytes. */
export function fileSize(file: SkillFile): number {
  const text = fileText(file);
  if (text !== null) return new TextEncoder().encode(text).length;
  return typeof file === 'object' && 'base64' in file ? Math.floor((file.base64.replace(/=+$/, '').length * 3) / 4) : 0;
}

/** Bytes that are UTF-8 without NUL become text, others base64. */
export function toSkillFile(bytes: Uint8Array): SkillFile {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return text;
  } catch {
    // Not UTF-8.
  }
  return { base64: btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')) };
}
