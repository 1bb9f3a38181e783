/**
 * Makes text visible for a person: characters that print nothing, or that reorder surrounding text, are written as their code points.
 * For diffs, messages and JSON; text for models is cleaned instead (`listing-text.ts`).
 */

/** `a‮b` becomes `a<U+202E>b`. Tabs, line feeds and printable characters are kept. */
export function showInvisible(text: string): string {
  return unseen.test(text) ? text.replace(everyUnseen, (character) => `<${codePointName(character)}>`) : text;
}

/**
 * The same for what a terminal prints: a control could move the cursor, or be a command of the terminal. Joiners, variation selectors and the
 * tags of flags stay, since emoji and the spelling of many languages need them; a line may end with CR LF.
 */
export function terminalText(text: string): string {
  if (!unseen.test(text)) return text;
  return text.replaceAll('\r\n', '\n').replace(flagOrUnseen, (found) => (isSpelled(found) ? found : `<${codePointName(found)}>`));
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

/**
 * Hidden characters that an emoji has, as the source of a regular expression with the flag `u`: a selector after a character with two
 * presentations (`❤️`, `1️⃣`), and a joiner between emoji (`👩‍💻`).
 */
export const emojiPart = [
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}0-9#*])[\ufe0e\ufe0f]`,
  String.raw`(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)\u200d(?=\p{Extended_Pictographic})`,
].join('|');

/** The same, and joiners between letters of scripts that are spelled with them (Persian, Hindi). In Latin text they only hide something. */
export const readCharacter = String.raw`${emojiPart}|(?<=(?!\p{Script=Latin})\p{L}\p{M}*)[\u200c\u200d](?=(?!\p{Script=Latin})\p{L})`;

/** Private use characters and lone surrogates are not readable for a person either. */
const unseen = new RegExp(String.raw`${hiddenCharacter}|[\p{Co}\p{Cs}]`, 'u');
const everyUnseen = new RegExp(unseen.source, 'gu');

/** Persian and Hindi use joiners, Mongolian and Japanese names have variation selectors, as have emoji; a flag has tags. */
function isSpelled(found: string): boolean {
  return found.startsWith(blackFlag) || spelled.test(found);
}

const spelled = /^[\p{Join_Control}\p{Variation_Selector}]$/u;
/** Followed by tags, the flag of a region (UTS #51, emoji tag sequences): three to six letters and digits, and the end. */
const blackFlag = '\u{1f3f4}';
const flagOrUnseen = new RegExp(String.raw`\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}|${unseen.source}`, 'gu');

/** Returns the value as JSON for models and terminals, with every invisible character as `\uXXXX`. It parses to the same value. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(hidden, escapeUnits);
}

/** The same for a terminal or a program, on several lines unless `indent` is 0: what `terminalText` leaves stays. */
export function terminalJson(value: unknown, indent = 2): string {
  return JSON.stringify(value, null, indent).replace(flagOrUnseen, (found) => (isSpelled(found) ? found : escapeUnits(found)));
}

/** By UTF-16 units, as JSON encodes characters above U+FFFF. */
function escapeUnits(characters: string): string {
  let escaped = '';
  for (let index = 0; index < characters.length; index += 1) escaped += `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`;
  return escaped;
}

const hidden = new RegExp(`${hiddenCharacter}+`, 'gu');
