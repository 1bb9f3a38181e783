/** Removes what editors accept in JSON files of settings and `JSON.parse` does not: comments and trailing commas. */
import { stringEnd } from './json-text.ts';

/** Each also finds where a string begins. */
const comments = /"|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;
const trailingCommas = /"|,(?=\s*[}\]])/g;

/**
 * Returns the text with `// …` and `/* … *\/` comments and with commas before a closing bracket replaced by blanks, so that positions stay.
 * Linear; strings are unchanged. Invalid JSON stays invalid.
 */
export function withoutComments(text: string): string {
  return [comments, trailingCommas].reduce(withBlanks, text);
}

function withBlanks(text: string, unwanted: RegExp): string {
  const pieces: string[] = [];
  let from = 0;
  unwanted.lastIndex = 0;
  for (let found = unwanted.exec(text); found !== null; found = unwanted.exec(text)) {
    if (found[0] === '"') {
      const end = stringEnd(text, found.index);
      if (end === -1) break;
      unwanted.lastIndex = end + 1;
      continue;
    }
    pieces.push(text.slice(from, found.index), found[0].replace(/[^\r\n]/g, ' '));
    from = unwanted.lastIndex;
  }
  return pieces.join('') + text.slice(from);
}
