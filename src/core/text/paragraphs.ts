/** Joins texts from several sources into lines and paragraphs, and splits them again. */

/** Skips absent and empty texts; returns '' if nothing is left. */
export function joinParagraphs(...texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => text != null && text !== '').join('\n\n');
}

/** However steps and messages were split, the same text gives the same paragraphs. */
export function splitParagraphs(text: string): string[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
}

/** Returns untrusted text on one line, so that it cannot add lines to a list. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}

/** `a, b and 3 more`: the first `most` texts. */
export function listFirst(texts: readonly string[], most: number): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** `a, b and c`. */
export function joinWords(texts: readonly string[], word = ' and'): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')}${word} ${texts.at(-1)}`;
}
