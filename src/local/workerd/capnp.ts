/** Writes values in the text format of Cap'n Proto, which workerd reads: objects are structs, arrays lists, strings texts. */

/** An expression that is written as it is, such as `embed "/file"`. */
export class Raw {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export type CapnpValue = string | boolean | Raw | readonly CapnpValue[] | { [field: string]: CapnpValue };

export function toCapnp(value: CapnpValue): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Raw) return value.text;
  if (isList(value)) return `[${value.map(toCapnp).join(', ')}]`;
  return `(${Object.entries(value)
    .map(([field, content]) => `${field} = ${toCapnp(content)}`)
    .join(', ')})`;
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: CapnpValue): value is readonly CapnpValue[] {
  return Array.isArray(value);
}

/** Control characters are escaped as two hexadecimal digits; all others are UTF-8. */
function quoted(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is escaped
  return `"${text.replace(/["\\\u0000-\u001f\u007f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;
}
