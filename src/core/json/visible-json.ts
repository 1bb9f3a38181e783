/** JSON text for models and terminals: invisible characters are escaped, and the value is unchanged. */
import { hiddenCharacter } from '../text/visible-text.ts';

/** Returns the value as JSON, with every invisible character as `\uXXXX`. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value).replace(hidden, (characters) => {
    // By UTF-16 units, as JSON encodes characters above U+FFFF.
    let escaped = '';
    for (let index = 0; index < characters.length; index += 1)
      escaped += `\\u${characters.charCodeAt(index).toString(16).padStart(4, '0')}`;
    return escaped;
  });
}

const hidden = new RegExp(`${hiddenCharacter}+`, 'gu');
