/**
 * Parses JSON text from outside within bounds: the last of duplicate keys counts, nesting is at most `limits.maxJsonDepth`, there are
 * at most `limits.maxJsonValues` values, and a key named `__proto__` is refused. Used for the bodies of requests and webhooks.
 * Reading the bytes happens elsewhere.
 */
import { limits } from '../limits/limits.ts';
import { invalidRequest, Problem, issuePath } from '../problem.ts';
import type { RepeatedList, RepeatedTools } from './repeated-tools.ts';
import { isRecord } from './wire-value.ts';

/**
 * Throws `invalid_json` (also if nested too deep), `body_too_large` for too many values, and `invalid_request` for `__proto__`. `repeated`:
 * where the list of the member `tools` is cached; it must not be modified.
 */
export function parseJsonText(text: string, repeated: RepeatedTools | null = null): unknown {
  if (text.trim() === '') throw new Problem('invalid_json', 'The body is empty. Send a JSON object.');
  const { excess, list } = scan(text, limits.maxJsonDepth, limits.maxJsonValues, repeated);
  if (excess === 'depth') throw new Problem('invalid_json', `The body is nested deeper than ${limits.maxJsonDepth} levels.`);
  if (excess === 'values') throw new Problem('body_too_large', `The body contains more than ${limits.maxJsonValues} values.`);
  let value: unknown;
  try {
    value = (list === null ? undefined : parseAround(text, list, repeated)) ?? JSON.parse(text);
  } catch (error) {
    // The engine's message quotes a few characters of the body, which came from the caller.
    throw new Problem('invalid_json', `The body is not valid JSON: ${error instanceof Error ? error.message : 'it does not parse'}.`);
  }
  // The text check is cheap; the value is walked only if it matches.
  if (text.includes('__proto__') || (text.includes('\\u') && /\\u005f/i.test(text))) refuseProtoKeys(value);
  return value;
}

/** Of a list in a text; `known`: parsed before. */
type FoundList = { start: number; end: number; values: number; known: RepeatedList | null };

/** Stands for the list while the rest is parsed. If another member of the same name, spelled with escapes, comes later, it counts. */
const mark = 'the list of tools';

/** Returns undefined for text that is not JSON. */
function parseAround(text: string, { start, end, values, known }: FoundList, repeated: RepeatedTools | null): unknown {
  try {
    const rest: unknown = JSON.parse(`${text.slice(0, start)}"${mark}"${text.slice(end)}`);
    if (isRecord(rest) && rest.tools === mark) rest.tools = known === null ? repeated?.parse(text, start, end, values) : known.value;
    return rest;
  } catch {
    // Parsed as a whole, for the error with its position.
    return undefined;
  }
}

/**
 * Returns which bound the text exceeds, if it is JSON. Scans the text before it is parsed, in linear time, without recursion; strings
 * are skipped natively. Values are counted by their separators, so the count is exact except for empty arrays and objects.
 */
export function excessOf(text: string, maxDepth: number, maxValues: number): 'depth' | 'values' | null {
  return scan(text, maxDepth, maxValues, null).excess;
}

type Scanned = { excess: 'depth' | 'values' | null; list: FoundList | null };

/** With `repeated`, also returns the only list that is the value of the member `tools` of the root. */
function scan(text: string, maxDepth: number, maxValues: number, repeated: RepeatedTools | null): Scanned {
  let depth = 0;
  let values = 1;
  let list = null as FoundList | null;
  let lists = 0;
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case 0x22: {
        const start = repeated === null || depth !== 1 ? -1 : listStart(text, index);
        if (start === -1) {
          index = stringEnd(text, index);
          if (index === -1) return { excess: null, list: null }; // An unterminated string: the parser reports it.
          break;
        }
        lists += 1;
        const known = repeated?.find(text, start) ?? null;
        const end = known === null ? -1 : start + known.text.length;
        list = { start, end, values: known === null ? values : known.values, known };
        if (known !== null) values += known.values;
        index = (known === null ? start : end) - 1;
        break;
      }
      case 0x5b:
      case 0x7b:
        if (++depth > maxDepth) return { excess: 'depth', list: null };
        if (++values > maxValues) return { excess: 'values', list: null };
        break;
      case 0x2c:
        if (++values > maxValues) return { excess: 'values', list: null };
        break;
      case 0x5d:
      case 0x7d:
        depth--;
        if (depth === 1 && list?.end === -1) list = { ...list, end: index + 1, values: values - list.values };
        break;
      default:
    }
  }
  if (values > maxValues) return { excess: 'values', list: null };
  return { excess: null, list: lists === 1 && list !== null && list.end !== -1 ? list : null };
}

const tools = '"tools"';

/** Returns where the list begins if this is the name of such a member, or -1. */
function listStart(text: string, index: number): number {
  if (!text.startsWith(tools, index)) return -1;
  const [between] = /^\s*:\s*(?=\[)/.exec(text.slice(index + tools.length, index + tools.length + maxSpaces)) ?? [];
  return between === undefined ? -1 : index + tools.length + between.length;
}

/** Between a name and its value; more are possible, and then nothing is cached. */
const maxSpaces = 16;

/** Returns the index of the quote that closes the string opened at `start`, or -1. Each run of backslashes is counted once. */
export function stringEnd(text: string, start: number): number {
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
