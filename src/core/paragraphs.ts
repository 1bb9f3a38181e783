/** Lines and paragraphs of texts from several sources: joined into one, and told apart again. */

/** Without those that are not there or say nothing; '' where none does. */
export function joinParagraphs(...texts: readonly (string | null | undefined)[]): string {
  return texts.filter((text) => text != null && text !== '').join('\n\n');
}

/** However steps and messages were cut, the same text has the same paragraphs. */
export function splitParagraphs(text: string): string[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
}

/** A stranger's text on one line: it must not write lines of its own where others stand beneath one another. */
export function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
