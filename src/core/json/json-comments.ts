/** Removes what editors accept in JSON files of settings and `JSON.parse` does not: comments and trailing commas. */
import { stringEnd } from './json-text.ts';

/**
 * Returns the text with `// …` and `/* … *\/` comments and with commas before a closing bracket replaced by blanks, so that positions stay.
 * Linear; strings are unchanged. Invalid JSON stays invalid.
 */
export function withoutComments(text: string): string {
  if (!/[/,]/.test(text)) return text;
  const pieces: string[] = [];
  let from = 0;
  /** The position of a comma that only blanks and comments have followed; -1: none. */
  let comma = -1;
  const blank = (start: number, end: number): void => {
    pieces.push(text.slice(from, start), text.slice(start, end).replace(/[^\r\n]/g, ' '));
    from = end;
  };
  const commas: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      const end = stringEnd(text, at);
      at = end < 0 ? text.length : end;
      comma = -1;
    } else if (character === '/' && (text[at + 1] === '/' || text[at + 1] === '*')) {
      const end = endOfComment(text, at);
      blank(at, end);
      at = end - 1;
    } else if (character === ',') comma = at;
    else if (character === '}' || character === ']') {
      if (comma >= 0) commas.push(comma);
      comma = -1;
    } else if (character !== undefined && !/\s/.test(character)) comma = -1;
  }
  pieces.push(text.slice(from));
  return withBlanks(pieces.join(''), commas);
}

function endOfComment(text: string, start: number): number {
  if (text[start + 1] === '*') {
    const end = text.indexOf('*/', start + 2);
    return end < 0 ? text.length : end + 2;
  }
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}

function withBlanks(text: string, places: readonly number[]): string {
  const pieces: string[] = [];
  let from = 0;
  for (const place of places) {
    pieces.push(text.slice(from, place), ' ');
    from = place + 1;
  }
  return pieces.join('') + text.slice(from);
}
