/**
 * Makes text visible for a person: characters that print nothing, or that reorder surrounding text, are written as their code points.
 * For diffs and messages; text for models is cleaned instead (`listing-text.ts`).
 */

/** `a‮b` becomes `a<U+202E>b`. Tabs, line feeds and printable characters are kept. */
export function showInvisible(text: string): string {
  return unseen.test(text) ? text.replace(everyUnseen, (character) => `<${codePointName(character)}>`) : text;
}

/** `U+202E`. */
export function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/**
 * One character, as the source of a regular expression with the flag `u`: invisible by design (Unicode's
 * Default_Ignorable_Code_Point: zero width, bidi, tags, variation selectors, fillers), a control other than tab and line feed,
 * another line separator, or a noncharacter.
 */
export const hiddenCharacter = String.raw`(?:(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb])`;

/** Private use characters and lone surrogates are not readable for a person either. */
const unseen = new RegExp(String.raw`${hiddenCharacter}|[\p{Co}\p{Cs}]`, 'u');
const everyUnseen = new RegExp(unseen.source, 'gu');
