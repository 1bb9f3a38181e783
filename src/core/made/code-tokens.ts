/**
 * JavaScript as tokens, as far as one has to see to tell code from what only looks like it: strings, comments, templates and regular
 * expressions. No parser and no check of syntax, which the sandbox does; what is no JavaScript gives some tokens all the same. Linear. Used
 * by `code-uses.ts`.
 */

/** `text`: of a string or of a template without expressions what stands between its quotes, as written. `line` counts from 1. */
export type CodeToken = { kind: 'name' | 'number' | 'string' | 'template' | 'regex' | 'mark'; text: string; line: number };

/** The code within the expressions of a template is among the tokens; a template that has any is a `mark` before them. */
export function readTokens(code: string): CodeToken[] {
  const tokens: CodeToken[] = [];
  /** What closes next: a bracket, or the brace at which a template goes on. `afterwards`: whether a regular expression may stand behind it. */
  const open: { closes: string; isTemplate: boolean; afterwards: boolean }[] = [];
  let [at, line] = [0, 1];
  let mayBeRegex = true;

  const push = (kind: CodeToken['kind'], text: string, next: number): void => {
    tokens.push({ kind, text, line });
    at = next;
  };
  const countLines = (from: number, to: number): void => {
    for (let index = code.indexOf('\n', from); index !== -1 && index < to; index = code.indexOf('\n', index + 1)) line += 1;
  };
  /** From behind the back tick, or behind the brace that closed an expression; `isWhole`: it began here. */
  const readTemplate = (from: number, isWhole: boolean): void => {
    const end = templateEnd(code, from);
    const hasExpression = code[end] === '$';
    if (isWhole) push(hasExpression ? 'mark' : 'template', hasExpression ? '`' : code.slice(from, end), at);
    countLines(from, end);
    at = end + (hasExpression ? 2 : 1);
    mayBeRegex = hasExpression;
    if (hasExpression) open.push({ closes: '}', isTemplate: true, afterwards: false });
  };

  while (at < code.length) {
    const character = code.charAt(at);
    if (character === '\n') {
      line += 1;
      at += 1;
    } else if (/\s/.test(character)) at += 1;
    else if (code.startsWith('//', at)) at = orEnd(code.indexOf('\n', at), code);
    else if (code.startsWith('/*', at)) {
      const end = code.indexOf('*/', at + 2);
      countLines(at, orEnd(end, code));
      at = end === -1 ? code.length : end + 2;
    } else if (character === '"' || character === "'") {
      const end = stringEnd(code, at + 1, character);
      const from = at;
      push('string', code.slice(at + 1, end), code[end] === character ? end + 1 : end);
      countLines(from, at);
      mayBeRegex = false;
    } else if (character === '`') readTemplate(at + 1, true);
    else if (isNameStart(character)) {
      const name = matchAt(namePart, code, at);
      push('name', name, at + name.length);
      mayBeRegex = beforeRegex.has(name) && tokens.at(-2)?.text !== '.';
    } else if (/[0-9]/.test(character)) {
      const number = matchAt(numberPart, code, at);
      push('number', number, at + number.length);
      mayBeRegex = false;
    } else if (character === '/' && mayBeRegex) {
      const end = regexEnd(code, at + 1);
      push('regex', code.slice(at, end), end);
      mayBeRegex = false;
    } else if (character in closing) {
      const isCondition = character === '(' && conditions.has(tokens.at(-1)?.text ?? '');
      // Behind a block a statement begins, and behind a literal an operator stands: the first is the usual one.
      open.push({ closes: closing[character as keyof typeof closing], isTemplate: false, afterwards: isCondition || character === '{' });
      push('mark', character, at + 1);
      mayBeRegex = true;
    } else if (character === ')' || character === ']' || character === '}') {
      const opened = open.at(-1)?.closes === character ? open.pop() : undefined;
      if (opened?.isTemplate === true) readTemplate(at + 1, false);
      else {
        push('mark', character, at + 1);
        mayBeRegex = opened?.afterwards ?? false;
      }
    } else {
      const mark = marks.find((candidate) => code.startsWith(candidate, at)) ?? character;
      // A surrogate pair is one character.
      push('mark', mark, at + Math.max(mark.length, String.fromCodePoint(code.codePointAt(at) ?? 0).length));
      mayBeRegex = mark !== '++' && mark !== '--';
    }
  }
  return tokens;
}

const closing = { '(': ')', '[': ']', '{': '}' } as const;
/** Of more than one character, those that have to be told from their beginnings. */
const marks = ['...', '?.', '=>', '++', '--'] as const;
/** Names behind which no division can stand. */
const beforeRegex: ReadonlySet<string> = new Set(
  'return typeof instanceof in of new delete void throw case do else yield await'.split(' '),
);
const conditions: ReadonlySet<string> = new Set(['if', 'while', 'for', 'with']);
const namePart = /[\p{ID_Continue}$_\u200c\u200d]*/uy;
const numberPart = /[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?/y;

function isNameStart(character: string): boolean {
  return /[\p{ID_Start}$_]/u.test(character);
}

function matchAt(pattern: RegExp, code: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(code)?.[0] || code.charAt(at);
}

function orEnd(index: number, code: string): number {
  return index === -1 ? code.length : index;
}

/** Where the quote stands that ends it, or the end of its line: no string goes beyond that but behind a backslash. */
function stringEnd(code: string, from: number, quote: string): number {
  let at = from;
  while (at < code.length && code[at] !== quote && code[at] !== '\n') at += code[at] === '\\' ? 2 : 1;
  return Math.min(at, code.length);
}

/** Where its back tick stands, or the `${` of its next expression. */
function templateEnd(code: string, from: number): number {
  let at = from;
  while (at < code.length && code[at] !== '`' && !code.startsWith('${', at)) at += code[at] === '\\' ? 2 : 1;
  return Math.min(at, code.length);
}

/** Behind its flags. A slash within brackets is one of its characters. */
function regexEnd(code: string, from: number): number {
  let at = from;
  let isClass = false;
  for (; at < code.length && code[at] !== '\n'; at += code[at] === '\\' ? 2 : 1) {
    if (code[at] === '[') isClass = true;
    else if (code[at] === ']') isClass = false;
    else if (code[at] === '/' && !isClass) {
      at += 1;
      while (at < code.length && /[a-z]/.test(code.charAt(at))) at += 1;
      return at;
    }
  }
  return Math.min(at, code.length);
}
