/**
 * Folding: what makes two spellings of a name the same name (DESIGN §3.5). The only place that says so; resolution,
 * allow-lists, clash checks and suggestions all compare what this returns.
 */
import { limits } from './limits.ts';

/**
 * `WebSearch`, `web-search`, `webSearch`, `Web Search` and `functions.web_search` all become `websearch`.
 *
 * Only ASCII is folded: a Kelvin sign stays one and never becomes `k`. Idempotent. `''` when nothing is left to compare
 * (separators alone, or longer than any name): such a name equals nothing.
 */
export function fold(name: string): string {
  if (name.length > limits.maxToolNameBytes) return '';
  const bare = lowerAscii(trimAscii(name))
    .replace(namespaces, '')
    .replace(/[-_. ]+/g, '');
  // A tab may have stood behind a separator.
  return trimAscii(bare);
}

/**
 * What models put before a name out of habit: `functions.` (OpenAI), `default_api.` and `default_api:` (Gemini),
 * `tools.`, and `mcp__` (clients that write `mcp__<server>__<tool>`, which then folds to the canonical name's form).
 * Dropped only when a name remains behind them.
 */
const namespaces = /^(?:(?:functions?|tools?|default_api)[.:]|mcp__)+(?=[\s\S]*[^-_. ])/;

/**
 * Drops white space around a name. Not `String.trim`: that would also swallow invisible characters such as U+FEFF, which
 * must be seen and refused.
 */
export function trimAscii(text: string): string {
  return edges.test(text) ? text.replace(/^[ \t\r\n]+/, '').replace(/[ \t\r\n]+$/, '') : text;
}

const edges = /^[ \t\r\n]|[ \t\r\n]$/;

function lowerAscii(text: string): string {
  // `toLowerCase` maps some other scripts' letters into ASCII; it is only safe where there are none.
  return isAscii.test(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const isAscii = /^[\x00-\x7f]*$/;
