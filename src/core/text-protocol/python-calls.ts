/**
 * Translates calls as Python writes them, with literals for arguments, to the JSON of calls: `[get_weather(city='Paris')]` becomes
 * `[{"name":"get_weather","arguments":{"city":"Paris"}}]`. What Python would have to compute gives invalid JSON. Used by `written-calls.ts`.
 */

const pattern = /\s+|("""|''')[\s\S]*?\1|"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[A-Za-z_][\w.]*|[-+\d][\w.+-]*|[\s\S]/y;

/** Linear in the text. */
export function pythonCallsToJson(text: string): string {
  const tokens = tokensOf(text);
  const json: string[] = [];
  const add = (part: string): void => {
    if (part !== '') json.push(part);
  };
  /** What closes each open bracket. */
  const open: string[] = [];
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1];
    if (/^[A-Za-z_]/.test(token)) {
      if (next === '(') add(beginCall(token, json, open));
      else add(next === '=' ? `${JSON.stringify(token)}:` : (constants.get(token) ?? token));
    } else if (token === '(' || token === '[' || token === '{') {
      const isCall = token === '(' && /^[A-Za-z_]/.test(tokens[at - 1] ?? '');
      if (!isCall) {
        open.push(token === '{' ? '}' : ']');
        add(token === '{' ? '{' : '[');
      }
    } else if (token === ')' || token === ']' || token === '}') add(open.pop() ?? token);
    else if (token === ',' || token === ';') add(next === undefined || closers.has(next) ? '' : ',');
    else if (token !== '=') add(/^["']/.test(token) ? JSON.stringify(unquote(token)) : token);
  }
  const calls = json.join('');
  return calls.startsWith('[') ? calls : `[${calls}]`;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (pattern.lastIndex = 0; pattern.lastIndex < text.length; ) {
    const [token = ''] = pattern.exec(text) ?? [];
    if (token.trim() !== '') tokens.push(token);
  }
  return tokens;
}

/** `print(f(a=1))` is the call in it. A call in the arguments of another one would have to be computed. */
function beginCall(name: string, before: readonly string[], open: string[]): string {
  const isInner = open.some((close) => close === '}}');
  if (name === 'print' && !isInner) {
    open.push('');
    return '';
  }
  open.push('}}');
  if (isInner) return '(';
  // Calls in lines of their own have no comma between them.
  return `${before.at(-1)?.endsWith('}') ? ',' : ''}{"name":${JSON.stringify(name)},"arguments":{`;
}

function unquote(token: string): string {
  const width = /^("""|''')/.test(token) && token.length >= 6 ? 3 : 1;
  return token
    .slice(width, -width)
    .replaceAll(/\\(?:x([\da-f]{2})|u([\da-f]{4})|([\s\S]))/gi, (_escape, x?: string, u?: string, char = '') => {
      const hex = x ?? u;
      return hex === undefined ? (escapes.get(char) ?? `\\${char}`) : String.fromCharCode(Number.parseInt(hex, 16));
    });
}

const closers = new Set([')', ']', '}']);
const constants = new Map([
  ['True', 'true'],
  ['False', 'false'],
  ['None', 'null'],
]);
const escapes = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['"', '"'],
  ["'", "'"],
  ['\\', '\\'],
  ['\n', ''],
]);
