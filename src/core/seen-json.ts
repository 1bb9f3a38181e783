/** JSON as text that a model or a terminal may be shown: nothing in it is hidden, and it is the same value still. */
import { hiddenCharacter } from './visible-text.ts';

/** The same value, with every character that cannot be seen as `\uXXXX`. */
export function seenJson(value: unknown): string {
  return JSON.stringify(value).replace(hidden, (characters) => {
    // By UTF-16 units: so JSON writes what lies above U+FFFF.
    let escaped = '';
    for (let index = 0; index < characters.length; index += 1)
      escaped += `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}

const hidden = new RegExp(`${hiddenCharacter}+`, 'gu');
