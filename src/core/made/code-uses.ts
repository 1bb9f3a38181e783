/**
 * Which tools code names, read from its text: `tools.<name>`, `tools["<name>"]` and, by its canonical name, `tools.<server>.<name>`. What it may call is fixed with it (DESIGN §7), so what
 * cannot be read here has to be declared. Nothing rests on this at run time: there only the fixed ones can be called.
 */
import { readTokens, type CodeToken } from './code-tokens.ts';

/** `names`: as written, each once, with the line of its first. `unread`: the line where `tools` is used in any other way; null: nowhere. */
export type CodeUses = { names: { name: string; line: number }[]; unread: number | null };

export function readCodeUses(code: string): CodeUses {
  const tokens = readTokens(code);
  const names = new Map<string, number>();
  let unread: number | null = null;
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'name' || token.text !== 'tools' || isOtherTools(tokens, index)) continue;
    const name = nameBehind(tokens, index + 1);
    if (name === null) unread ??= token.line;
    else if (!names.has(name)) names.set(name, token.line);
  }
  return { names: [...names].map(([name, line]) => ({ name, line })), unread };
}

/** A member of something else, or a key. */
function isOtherTools(tokens: readonly CodeToken[], index: number): boolean {
  const before = tokens[index - 1]?.text;
  if (before === '.' || before === '?.') return tokens[index - 2]?.text !== 'globalThis';
  return tokens[index + 1]?.text === ':' && (before === '{' || before === ',');
}

/** null: what stands there cannot be read as a name. */
function nameBehind(tokens: readonly CodeToken[], index: number): string | null {
  const [mark, next, close] = tokens.slice(index, index + 3);
  if (mark?.kind !== 'mark') return null;
  if (mark.text === '.') return next?.kind === 'name' ? next.text + memberBehind(tokens, index + 2) : null;
  if (mark.text === '?.') return next?.kind === 'name' ? next.text : next?.text === '[' ? nameBehind(tokens, index + 1) : null;
  if (mark.text !== '[' || close?.text !== ']' || close.kind !== 'mark') return null;
  const isText = next?.kind === 'string' || next?.kind === 'template';
  return isText && !next.text.includes('\\') ? next.text : null;
}

/** `.read_file` behind `tools.builtin`; empty where the tool itself stands there, to be called or handed on. */
function memberBehind(tokens: readonly CodeToken[], index: number): string {
  const [dot, name] = tokens.slice(index, index + 2);
  return dot?.text === '.' && name?.kind === 'name' && !functionMembers.has(name.text) ? `.${name.text}` : '';
}

const functionMembers: ReadonlySet<string> = new Set(['apply', 'bind', 'call', 'length', 'name']);
