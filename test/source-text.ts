/**
 * A TypeScript source with its comments blanked, and on request the contents of its strings too, so that rules over the
 * text do not trip over prose. Line numbers and offsets stay as they are. A scanner, not a parser: good enough for code
 * that the formatter has laid out.
 */
export function blankComments(source: string, options: { strings: boolean } = { strings: false }): string {
  const out = source.split('');
  const blank = (from: number, to: number): void => {
    for (let index = from; index < to; index++) if (out[index] !== '\n') out[index] = ' ';
  };
  // One entry a template literal that is open around the current position: its depth of braces inside `${…}`.
  const templates: number[] = [];
  let index = 0;
  while (index < source.length) {
    const char = source.charAt(index);
    const end = tokenEnd(source, index, templates);
    if (source.startsWith('//', index) || source.startsWith('/*', index)) blank(index, end);
    else if (options.strings && (char === "'" || char === '"' || char === '`' || (char === '}' && end > index + 1)))
      blank(index + 1, end - 1);
    else if (options.strings && char === '/' && end > index + 1) blank(index + 1, end - 1);
    index = end;
  }
  return out.join('');
}

/** Returns where the token that starts at `index` ends. Template literals end at `${` and continue at its `}`. */
function tokenEnd(source: string, index: number, templates: number[]): number {
  const char = source.charAt(index);
  if (source.startsWith('//', index)) return until(source, '\n', index);
  if (source.startsWith('/*', index)) return until(source, '*/', index + 2) + 2;
  if (char === "'" || char === '"') return quotedEnd(source, index + 1, char);
  if (char === '`') return templateEnd(source, index + 1, templates);
  if (char === '{' && templates.length > 0) templates[templates.length - 1]! += 1;
  if (char === '}' && templates.length > 0) {
    if (templates.at(-1) === 0) {
      templates.pop();
      return templateEnd(source, index + 1, templates);
    }
    templates[templates.length - 1]! -= 1;
  }
  if (char === '/' && startsRegex(source, index)) return regexEnd(source, index + 1);
  return index + 1;
}

function until(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found < 0 ? source.length : found;
}

function quotedEnd(source: string, from: number, quote: string): number {
  for (let index = from; index < source.length; index++) {
    if (source[index] === '\\') index++;
    else if (source[index] === quote || source[index] === '\n') return index + 1;
  }
  return source.length;
}

function templateEnd(source: string, from: number, templates: number[]): number {
  for (let index = from; index < source.length; index++) {
    if (source[index] === '\\') index++;
    else if (source[index] === '`') return index + 1;
    else if (source.startsWith('${', index)) {
      templates.push(0);
      return index + 2;
    }
  }
  return source.length;
}

/** After a value a slash divides; after an operator, a bracket or `return` it opens a regular expression. */
function startsRegex(source: string, index: number): boolean {
  const before = source.slice(Math.max(0, index - 20), index).trimEnd();
  return before === '' || /[([{,;:=!&|?+\-*%<>~^]$/.test(before) || /\b(return|typeof|case|in|of)$/.test(before);
}

function regexEnd(source: string, from: number): number {
  let inClass = false;
  for (let index = from; index < source.length; index++) {
    const char = source[index];
    if (char === '\\') index++;
    else if (char === '\n') return index;
    else if (char === '[') inClass = true;
    else if (char === ']') inClass = false;
    else if (char === '/' && !inClass) return index + 1;
  }
  return source.length;
}
