/**
 * Text as a person is shown it: characters that print nothing, or that reorder what stands around them, are written as their
 * code points. For diffs and messages; what a model is given is cleaned instead (`listing-text.ts`).
 */

/** `a‮b` becomes `a<U+202E>b`. Tabs, line feeds and whatever prints stay. */
export function visibleText(text: string): string {
  return unseen.test(text) ? text.replace(everyUnseen, (character) => `<${codePointName(character)}>`) : text;
}

/** `U+202E`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * Controls, format characters (zero width, bidi, tags), lone surrogates, private use, separators of lines, and marks that are
 * drawn as nothing: variation selectors, fillers, the grapheme joiner.
 */
const unseenClass =
  '[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Zl}\\p{Zp}\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]';
const unseen = new RegExp(`(?![\\t\\n])${unseenClass}`, 'u');
const everyUnseen = new RegExp(unseen.source, 'gu');
