/**
 * Reads the argument text of a finished tool call: `JSON.parse`, else the missing closing brackets, else `jsonrepair`. The state
 * says which one succeeded, because a repaired or truncated call may do less (contract §6). Called once for each call, when it has
 * ended, by the assembler and by the readers of a client's history. It is not a streaming parser.
 */
import { jsonrepair } from 'jsonrepair';
import { limits } from '../limits/limits.ts';
import { isRecord, mapTexts, tryParse } from './wire-value.ts';
import { KB } from '../limits/units.ts';
import { utf8Length } from '../text/utf8.ts';

/** jsonrepair is quadratic on two kinds of damage (reference/performance.md): above this size it is not tried. */
export const maxRepairBytes = 100 * KB;
/** What a repair of that size can take. */
const maxRepairSeconds = 1;

/** Returns how many seconds the repair of a text of this length can take. */
export function repairSeconds(length: number): number {
  return length > maxRepairBytes ? 0 : maxRepairSeconds * (length / maxRepairBytes) ** 2;
}

/**
 * The state of a finished call's argument text:
 * `ok` parsed unchanged (also `""`, `null` and doubly encoded objects); `closed` only closing brackets were missing and the stream
 * ended properly; `repaired` by jsonrepair; `truncated` the text was cut off and must not run; `invalid` not repairable.
 */
export type ArgumentState = 'ok' | 'closed' | 'repaired' | 'truncated' | 'invalid';

export type ArgumentReading =
  | { state: 'ok' | 'repaired'; arguments: Record<string, unknown> }
  /** `closers` are the brackets that were missing at the end of the text. */
  | { state: 'closed'; arguments: Record<string, unknown>; closers: string }
  | { state: Extract<ArgumentState, 'truncated' | 'invalid'>; arguments: null };

/**
 * `ended`: the stream reported its end; `length`: it reached its token limit. A text that was cut in either way is never
 * repaired, since the missing part is unknown. `""` and `null` mean no arguments; a JSON string that contains an object is that
 * object; any other value is `invalid`. Linear up to `maxArgumentBytes`; never throws.
 */
export function readArguments(text: string, { ended, length }: { ended: boolean; length: boolean }): ArgumentReading {
  const cut = !ended || length;
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (isEmpty(body)) return cut ? truncated : { state: 'ok', arguments: {} };
  const value = tryParse(body);
  if (value !== undefined) return toReading(value, body, 'ok');
  if (cut) return truncated;
  const closers = missingClosers(body);
  if (closers === '') return repair(body);
  return closers === null ? truncated : close(body, closers);
}

const truncated: ArgumentReading = { state: 'truncated', arguments: null };
const invalid: ArgumentReading = { state: 'invalid', arguments: null };

function isEmpty(text: string): boolean {
  return text.length <= 64 && /^\s*(?:null\s*)?$/.test(text);
}

/** Only after a value. A number at the end is complete, since the provider reported the end of the reply. */
function close(text: string, closers: string): ArgumentReading {
  const value = /["}\]el\d]\s*$/.test(text.slice(-64)) ? tryParse(text + closers) : undefined;
  if (value === undefined) return truncated;
  const reading = toReading(value, text, 'ok');
  return reading.state === 'ok' ? { state: 'closed', arguments: reading.arguments, closers } : reading;
}

function repair(text: string): ArgumentReading {
  if (utf8Length(text) > maxRepairBytes) return invalid;
  let repaired: string;
  try {
    repaired = jsonrepair(text);
  } catch {
    // jsonrepair cannot read it, or it is nested so deeply that the recursion ran out of stack.
    return objectInProse(text);
  }
  const reading = toReading(tryParse(repaired), repaired, 'repaired');
  return reading.state === 'invalid' ? objectInProse(text) : reading;
}

/** One complete object between words, which jsonrepair reads as a list or not at all. An empty object proves nothing. */
function objectInProse(text: string): ArgumentReading {
  const object = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const reading = toReading(tryParse(object), object, 'repaired');
  return reading.arguments !== null && Object.keys(reading.arguments).length > 0 ? reading : invalid;
}

function toReading(value: unknown, text: string, state: 'ok' | 'repaired'): ArgumentReading {
  const inner = typeof value === 'string' ? tryParse(value) : value;
  const read = isRecord(inner) ? soundValue(inner, typeof value === 'string' ? value : text, 1) : null;
  if (read === null) return invalid;
  // An object stays one.
  return { state: read.isRounded ? 'repaired' : state, arguments: read.value as Record<string, unknown> };
}

/**
 * Returns the value of a strict JSON text that was sent where a value belongs, `depth` levels deep in the arguments. undefined: it is no JSON,
 * nests too deep, or has an integer that would be rounded.
 */
export function readValue(text: string, depth: number): unknown {
  const value = tryParse(text);
  const read = value === undefined ? null : soundValue(value, text, depth);
  return read === null || read.isRounded ? undefined : read.value;
}

/** `isRounded`: an integer has lost digits. null: the value cannot be used. */
function soundValue(value: unknown, source: string, depth: number): { value: unknown; isRounded: boolean } | null {
  const found = inspect(value, depth);
  if (found === unsound) return null;
  // Lone surrogates cannot be stored or sent as UTF-8.
  const hasLone = source.includes('\\ud') || source.includes('\\uD') || !source.isWellFormed();
  const formed = hasLone ? mapTexts(value, (part) => part.toWellFormed()) : value;
  return { value: formed, isRounded: found === large && losesDigits(source) };
}

/**
 * The worst that the value contains. `unsound`: nesting beyond the limit, or the infinity that `1e400` parses to; `large`: an integer
 * that may be rounded. Descends no further than the limit, so any text is safe.
 */
function inspect(value: unknown, depth: number): number {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return unsound;
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? large : fine;
  }
  if (typeof value !== 'object' || value === null) return fine;
  if (depth > limits.maxJsonDepth) return unsound;
  let found = fine;
  // Parsed JSON has own keys only, and `for in` is much cheaper than a list of them.
  if (Array.isArray(value)) for (const child of value) found = Math.max(found, inspect(child, depth + 1));
  else for (const key in value) found = Math.max(found, inspect((value as Record<string, unknown>)[key], depth + 1));
  return found;
}

const [fine, large, unsound] = [0, 1, 2];

/** Whether an integer was rounded because a double cannot hold it: the value is not what the model wrote, so it counts as repaired. */
function losesDigits(text: string): boolean {
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs)) {
    // A rounded integer that prints the same digits lost nothing.
    if (/^-?\d{16,}$/.test(token) && BigInt(Number(token)) !== BigInt(token) && String(Number(token)) !== token) return true;
  }
  return false;
}

/**
 * The closing brackets that are missing at the end of a text; `''` when its first object or list is complete, or it has none; null
 * when it ends inside a string, or nests deeper than the limit (it would be rejected anyway, and the stack stays short). Tolerant,
 * so that it also serves damaged text: single quotes are quotes, and a closer ends everything that is open inside its bracket.
 */
function missingClosers(text: string): string | null {
  const open: string[] = [];
  let opened = text.startsWith('"');
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"' || (char === "'" && /[[{,:\s]/.test(text[at - 1] ?? ' '))) {
      at = closingQuote(text, at, char);
      if (at < 0) return opened ? null : '';
    } else if (char === '{' || char === '[') {
      opened = true;
      if (open.push(char === '{' ? '}' : ']') > limits.maxJsonDepth) return null;
    } else if (char === '}' || char === ']') {
      const depth = open.lastIndexOf(char);
      if (depth >= 0) open.length = depth;
      if (opened && open.length === 0) return '';
    }
  }
  return open.reverse().join('');
}

function closingQuote(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}
