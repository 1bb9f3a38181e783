/**
 * Untrusted text in TypeScript: names, literals and comments that cannot be parsed as anything else, whatever they contain. Used by
 * the declarations of code mode (`typescript-type.ts`, `tool-declarations.ts`).
 */
import { oneLine } from '../text/paragraphs.ts';
import { hiddenCharacter } from '../text/visible-text.ts';

/** Returns a member name: unchanged if it is an identifier, else in quotes. Reserved words are valid member names. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalText(name);
}

/** `tools.read_file`, `tools["a-b"]`. */
export function memberOf(object: string, name: string): string {
  const member = memberName(name);
  return member === name ? `${object}.${name}` : `${object}[${member}]`;
}

/**
 * Returns a literal type. JSON literals are valid TypeScript; invisible characters and Markdown fences are written as code points.
 */
export function literalText(value: string | number | boolean | null): string {
  return JSON.stringify(value).replace(hidden, escaped).replaceAll('```', escaped('`').repeat(3));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * Returns `/** … *\/` on one line, or '' for an empty text. The text cannot end the comment or a Markdown fence around it, and
 * invisible characters are removed, since between `*` and `/` they would hide an end.
 */
export function commentText(text: string, maxLength: number): string {
  const line = oneLine(text.replace(hidden, ''));
  const cut = line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}…`;
  return cut === '' ? '' : `/** ${cut.replaceAll('*/', '*\\/').replaceAll('```', "'''")} */`;
}

const hidden = new RegExp(hiddenCharacter, 'gu');
