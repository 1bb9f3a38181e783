/** Texts of several sources as one, a blank line between them, and back. */

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
