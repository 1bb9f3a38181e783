/**
 * Parses JSON text from outside within bounds: the last of duplicate keys counts, nesting is at most `limits.maxJsonDepth`, there are
 * at most `limits.maxJsonValues` values, and a key named `__proto__` is refused. Used for the bodies of requests and webhooks.
 * Reading the bytes happens elsewhere.
 */
import { issuePath } from '../issues.ts';
import { limits } from '../limits.ts';
import { invalidRequest, Problem } from '../problem.ts';

/** Throws `invalid_json` (also if nested too deep), `body_too_large` for too many values, and `invalid_request` for `__proto__`. */
export function parseJsonText(text: string): unknown {
  if (text.trim() === '') throw new Problem('invalid_json', 'The body is empty. Send a JSON object.');
  const excess = excessOf(text, limits.maxJsonDepth, limits.maxJsonValues);
  if (excess === 'depth') throw new Problem('invalid_json', `The body is nested deeper than ${limits.maxJsonDepth} levels.`);
  if (excess === 'values') throw new Problem('body_too_large', `The body contains more than ${limits.maxJsonValues} values.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The engine's message quotes a few characters of the body, which came from the caller.
    throw new Problem('invalid_json', `The body is not valid JSON: ${error instanceof Error ? error.message : 'it does not parse'}.`);
  }
  // The text check is cheap; the value is walked only if it matches.
  if (text.includes('__proto__') || /\\u005f/i.test(text)) refuseProtoKeys(value);
  return value;
}

/**
 * Returns which bound the text exceeds, if it is JSON. Scans the text before it is parsed, in linear time, without recursion; strings
 * are skipped natively. Values are counted by their separators, so the count is exact except for empty arrays and objects.
 */
export function excessOf(text: string, maxDepth: number, maxValues: number): 'depth' | 'values' | null {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22:
        index = stringEnd(text, index);
        if (index === -1) return null; // An unterminated string: the parser reports it.
        break;
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return 'depth';
        if (++values > maxValues) return 'values';
        break;
      case 0x2c:
        if (++values > maxValues) return 'values';
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        break;
      default:
    }
  }
  return null;
}

/** Returns the index of the quote that closes the string opened at `start`, or -1. Each run of backslashes is counted once. */
function stringEnd(text: string, start: number): number {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return -1;
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === 0x5c) backslashes++;
    if (backslashes % 2 === 0) return end;
  }
}

function refuseProtoKeys(root: unknown): void {
  const open: { value: unknown; path: PropertyKey[] }[] = [{ value: root, path: [] }];
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value, path } = item;
    if (value === null || typeof value !== 'object') continue;
    if (!Array.isArray(value) && Object.hasOwn(value, '__proto__')) {
      throw invalidRequest([{ path: issuePath([...path, '__proto__']), message: 'this key is not allowed' }]);
    }
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [key, child] of entries) if (child !== null && typeof child === 'object') open.push({ value: child, path: [...path, key] });
  }
}
