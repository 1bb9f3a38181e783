/**
 * Strangers' words in TypeScript: names, literals and comments that cannot be read as anything else, whatever is written in them. Used by
 * the declarations of code mode (`typescript-type.ts`, `tool-declarations.ts`).
 */
import { oneLine } from '../paragraphs.ts';
import { hiddenCharacter } from '../visible-text.ts';

/** A member's name: as it is where it is an identifier, else in quotes. Words of the language may be members. */
export function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literalText(name);
}

/** `tools.read_file`, `tools["a-b"]`. */
export function memberOf(object: string, name: string): string {
  const member = memberName(name);
  return member === name ? `${object}.${name}` : `${object}[${member}]`;
}

/** A literal type. JSON is TypeScript; what prints nothing, and a fence of Markdown, is written as its code points. */
export function literalText(value: string | number | boolean | null): string {
  return JSON.stringify(value).replace(hidden, escaped).replaceAll('```', escaped('`').repeat(3));
}

function escaped(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/**
 * `/** … *\/` on one line, or '' where there is nothing to say. The text cannot end the comment, nor a fence of Markdown around it, and what
 * prints nothing is left out: between `*` and `/` it would hide an end.
 */
export function commentText(text: string, maxLength: number): string {
  const line = oneLine(text.replace(hidden, ''));
  const cut = line.length <= maxLength ? line : `${line.slice(0, maxLength).toWellFormed().trimEnd()}…`;
  return cut === '' ? '' : `/** ${cut.replaceAll('*/', '*\\/').replaceAll('```', "'''")} */`;
}

const hidden = new RegExp(hiddenCharacter, 'gu');
