/**
 * Name folding: defines which spellings of a name are the same name (contract §3.5). Resolution, allow-lists, conflict checks and
 * suggestions all compare the folded form.
 */
import { limits } from '../limits/limits.ts';

/**
 * `WebSearch`, `web-search`, `webSearch`, `Web Search` and `functions.web_search` all become `websearch`.
 *
 * Only ASCII is folded: a Kelvin sign is kept and never becomes `k`. Idempotent. Returns `''` when nothing is left to compare (only
 * separators, or longer than any name); such a name matches nothing.
 */
export function fold(name: string): string {
  if (name.length > limits.maxToolNameLength) return '';
  const bare = lowerAscii(trimAscii(name))
    .replace(namespaces, '')
    .replace(/[-_. ]+/g, '');
  // There may have been a tab after a separator.
  return trimAscii(bare);
}

/**
 * Prefixes that models add to names: `functions.` (OpenAI), `default_api.` and `default_api:` (Gemini), `tools.`, and `mcp__`
 * (clients that write `mcp__<server>__<tool>`, which then folds to the canonical name's form). Removed only if a name remains.
 */
const namespaces = /^(?:(?:functions?|tools?|default_api)[.:]|mcp__)+(?=[\s\S]*[^-_. ])/;

/**
 * Removes ASCII white space around a name. Not `String.trim`, which would also remove invisible characters such as U+FEFF that must
 * be detected and refused.
 */
export function trimAscii(text: string): string {
  return edges.test(text) ? text.replace(/^[ \t\r\n]+/, '').replace(/[ \t\r\n]+$/, '') : text;
}

const edges = /^[ \t\r\n]|[ \t\r\n]$/;

function lowerAscii(text: string): string {
  // `toLowerCase` maps some letters of other scripts into ASCII, so it is used only for ASCII text.
  return isAscii.test(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (run) => run.toLowerCase());
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII
const isAscii = /^[\x00-\x7f]*$/;
