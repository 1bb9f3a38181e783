/** Reads which tools the text of code names. Apart from `uses.ts`, since every isolate needs it, also those in which no tool is made. */
import jsTokens, { type Token } from 'js-tokens';

/** `names`: as written, each once, with its first line. `unread`: the first line that uses `tools` in any other way, or null. */
type CodeUses = { names: { name: string; line: number }[]; unread: number | null };

/**
 * Reads from the text of code which tools it names: `tools.<name>`, `tools["<name>"]` and, by canonical name, `tools.<server>.<name>`. These
 * are the tools that the code may call (contract §7); what cannot be read here has to be declared. At run time only the tools that were fixed
 * when the code was written can be called, so nothing depends on this for safety.
 */
export function readCodeUses(code: string): CodeUses {
  const tokens = readTokens(code);
  const names = new Map<string, number>();
  let unread: number | null = null;
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'IdentifierName' || token.value !== 'tools' || isOtherTools(tokens, index)) continue;
    const name = nameAt(tokens, index + 1);
    if (name === null) unread ??= token.line;
    else if (!names.has(name)) names.set(name, token.line);
  }
  return { names: [...names].map(([name, line]) => ({ name, line })), unread };
}

type CodeToken = Token & { line: number };

/** Without comments and white space. js-tokens never throws and takes linear time; text that is not JavaScript gives tokens too. */
function readTokens(code: string): CodeToken[] {
  const tokens: CodeToken[] = [];
  let line = 1;
  for (const token of jsTokens(code)) {
    if (!/Comment$|^WhiteSpace$|^LineTerminatorSequence$/.test(token.type)) tokens.push({ ...token, line });
    line += token.value.split('\n').length - 1;
  }
  return tokens;
}

/** Whether it is a member of another object, or the key of a literal. */
function isOtherTools(tokens: readonly CodeToken[], index: number): boolean {
  const before = tokens[index - 1]?.value;
  if (before === '.' || before === '?.') return tokens[index - 2]?.value !== 'globalThis';
  return tokens[index + 1]?.value === ':' && (before === '{' || before === ',');
}

/** The name in `.name`, `?.name`, `["name"]` or `?.["name"]`; null where the tokens are anything else. */
function nameAt(tokens: readonly CodeToken[], index: number): string | null {
  const [first, next, close] = tokens.slice(index, index + 3);
  const isName = next?.type === 'IdentifierName';
  if (first?.value === '.') return isName ? next.value + memberAt(tokens, index + 2) : null;
  if (first?.value === '?.') return isName ? next.value : next?.value === '[' ? nameAt(tokens, index + 1) : null;
  if (first?.value !== '[' || close?.value !== ']') return null;
  const isText = next?.type === 'StringLiteral' || next?.type === 'NoSubstitutionTemplate';
  return isText && next.closed && !next.value.includes('\\') ? next.value.slice(1, -1) : null;
}

/** `.read_file` after `tools.builtin`; empty where the tool itself is called or passed on. */
function memberAt(tokens: readonly CodeToken[], index: number): string {
  const [dot, name] = tokens.slice(index, index + 2);
  return dot?.value === '.' && name?.type === 'IdentifierName' && !functionMembers.has(name.value) ? `.${name.value}` : '';
}

const functionMembers: ReadonlySet<string> = new Set(['apply', 'bind', 'call', 'length', 'name']);

/** Returns the code without a surrounding Markdown fence. Models write one in `run_code` and in made tools. */
export function withoutFence(code: string): string {
  return /^\s*```(?:js|javascript|ts|typescript)?[^\S\n]*\n(.*?)\n?```\s*$/s.exec(code)?.[1] ?? code;
}
