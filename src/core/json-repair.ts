/**
 * Reading the argument text of a finished tool call: parse, else add missing closers, else repair; and say which it was,
 * because what a repaired or cut text may do is less (DESIGN §6). Called once a call, at its end, by the assembler and by
 * whoever reads a client's history. Not a streaming parser.
 */
import { jsonrepair } from 'jsonrepair';
import type { ArgumentState } from './chat-event.ts';
import { limits } from './limits.ts';
import { isRecord } from './wire-value.ts';

export type ArgumentReading =
  | { state: 'ok' | 'repaired'; arguments: Record<string, unknown> }
  /** `closers` is what was missing at the end of the text. */
  | { state: 'closed'; arguments: Record<string, unknown>; closers: string }
  | { state: Extract<ArgumentState, 'truncated' | 'invalid'>; arguments: null };

/**
 * `ended`: the stream said properly that it was over; `length`: it ran into its token limit. Without the first or with the
 * second nothing is repaired, since what is missing cannot be known. `""`, `null` and a doubly encoded object are read as
 * models mean them; any other value that is not an object is `invalid`. Linear up to `maxArgumentBytes`, never throws.
 */
export function readArguments(text: string, { ended, length }: { ended: boolean; length: boolean }): ArgumentReading {
  const cut = !ended || length;
  const body = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  if (isEmpty(body)) return cut ? truncated : { state: 'ok', arguments: {} };
  const value = parse(body);
  if (value !== undefined) return ofValue(value, body, 'ok');
  const end = scan(body);
  if (end.kind === 'cut') return truncated;
  if (end.kind === 'open') {
    if (cut) return truncated;
    const reading = ofValue(parse(body + end.closers), body, 'ok');
    return reading.state === 'ok' ? { state: 'closed', arguments: reading.arguments, closers: end.closers } : reading;
  }
  if (cut || breaksOff(body)) return truncated;
  return repair(body);
}

const truncated: ArgumentReading = { state: 'truncated', arguments: null };
const invalid: ArgumentReading = { state: 'invalid', arguments: null };

function isEmpty(text: string): boolean {
  if (text.length > 64) return false;
  const word = text.trim();
  return word === '' || word === 'null';
}

/** undefined where the text is not JSON; JSON itself has no undefined. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller looks closer. The engine's message would say nothing more that we use.
    return undefined;
  }
}

function repair(text: string): ArgumentReading {
  if (text.length > limits.maxRepairBytes) return invalid;
  let repaired: string;
  try {
    repaired = jsonrepair(text);
  } catch {
    // Beyond jsonrepair, or nested so deeply that its recursion gave up.
    return amidProse(text);
  }
  const reading = ofValue(parse(repaired), repaired, 'repaired');
  return reading.state === 'invalid' ? amidProse(text) : reading;
}

/** One whole object with words around it, which jsonrepair reads as a list or not at all. An empty one is no evidence. */
function amidProse(text: string): ArgumentReading {
  const object = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  const reading = ofValue(parse(object), object, 'repaired');
  return reading.arguments !== null && Object.keys(reading.arguments).length > 0 ? reading : invalid;
}

function ofValue(value: unknown, text: string, state: 'ok' | 'repaired'): ArgumentReading {
  const inner = typeof value === 'string' ? parse(value) : value;
  const source = typeof value === 'string' ? value : text;
  if (!isRecord(inner)) return invalid;
  const found = inspect(inner, 1);
  if (found === 'unsound') return invalid;
  // Surrogates that lost their pair cannot be stored or sent as UTF-8.
  const lone = source.includes('\\ud') || source.includes('\\uD') || !source.isWellFormed();
  const formed = lone ? (wellFormed(inner) as Record<string, unknown>) : inner;
  return { state: found === 'large' && losesDigits(source) ? 'repaired' : state, arguments: formed };
}

/**
 * `unsound`: nested beyond the limit, or holds the infinity that `1e400` reads as; `large`: an integer that may be rounded.
 * Stops at the limit, so the recursion is shallow whatever the text was.
 */
function inspect(value: unknown, depth: number): Finding {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'unsound';
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? 'large' : 'fine';
  }
  if (typeof value !== 'object' || value === null) return 'fine';
  if (depth > limits.maxJsonDepth) return 'unsound';
  let found: Finding = 'fine';
  if (Array.isArray(value)) {
    for (const child of value) {
      found = worse(found, inspect(child, depth + 1));
      if (found === 'unsound') return found;
    }
    return found;
  }
  // Parsed JSON has own keys only, and `for in` over them is far cheaper than making lists.
  for (const key in value) {
    found = worse(found, inspect((value as Record<string, unknown>)[key], depth + 1));
    if (found === 'unsound') return found;
  }
  return found;
}

type Finding = 'fine' | 'large' | 'unsound';

function worse(a: Finding, b: Finding): Finding {
  return b === 'fine' ? a : b;
}

/** Recursion is safe here: `inspect` has bounded the depth. Built from entries, so an own `__proto__` stays a plain key. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key.toWellFormed(), wellFormed(child)]));
}

/** An integer that a double cannot hold was rounded: the value is not what the model wrote, so it counts as repaired. */
function losesDigits(text: string): boolean {
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs)) {
    // Either it is exact, or at least it is written again as it was read.
    if (/^-?\d{16,}$/.test(token) && BigInt(Number(token)) !== BigInt(token) && String(Number(token)) !== token) return true;
  }
  return false;
}

/**
 * How a text that does not parse ends, by a strict single pass. `open`: all that is missing are closing brackets, after a
 * value that cannot go on (a number could). `cut`: a proper prefix of JSON in any other place. `damaged`: no prefix of JSON.
 */
function scan(text: string): { kind: 'open'; closers: string } | { kind: 'cut' } | { kind: 'damaged' } {
  const closers: string[] = [];
  let expects: 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' = 'value';
  let settled = false;
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    if (at >= text.length) break;
    const char = text[at] as string;
    settled = false;
    if (expects === 'comma-or-end' || expects === 'key-or-end' || expects === 'value-or-end') {
      if (char === closers.at(-1)) {
        closers.pop();
        at++;
        expects = 'comma-or-end';
        settled = true;
        if (closers.length === 0 && skipSpace(text, at) < text.length) return damaged;
        continue;
      }
    }
    if (expects === 'comma-or-end') {
      if (char !== ',') return damaged;
      expects = closers.at(-1) === '}' ? 'key' : 'value';
      at++;
      continue;
    }
    if (expects === 'colon') {
      if (char !== ':') return damaged;
      expects = 'value';
      at++;
      continue;
    }
    if (expects === 'key' || expects === 'key-or-end') {
      if (char !== '"') return damaged;
      const end = stringEnd(text, at);
      if (typeof end !== 'number') return { kind: end };
      at = end;
      expects = 'colon';
      continue;
    }
    if (char === '{' || char === '[') {
      closers.push(char === '{' ? '}' : ']');
      expects = char === '{' ? 'key-or-end' : 'value-or-end';
      at++;
      continue;
    }
    const end: number | 'cut' | 'damaged' = char === '"' ? stringEnd(text, at) : wordEnd(text, at);
    if (typeof end !== 'number') return { kind: end };
    // A number at the very end may have lost digits: it is never settled.
    settled = char === '"' || /[tfn]/.test(char);
    at = end;
    expects = 'comma-or-end';
    if (closers.length === 0) return damaged;
  }
  return settled && closers.length > 0 ? { kind: 'open', closers: closers.reverse().join('') } : { kind: 'cut' };
}

const damaged = { kind: 'damaged' } as const;

function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
  }
  return at;
}

/** Index after the closing quote of the string that opens at `from`. */
function stringEnd(text: string, from: number): number | 'cut' | 'damaged' {
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return 'damaged';
    if (code !== 0x5c) continue;
    at++;
    if (at >= text.length) return 'cut';
    if (text[at] === 'u') {
      const digits = text.slice(at + 1, at + 5);
      if (!/^[0-9a-fA-F]*$/.test(digits)) return 'damaged';
      if (digits.length < 4) return 'cut';
      at += 4;
    } else if (!'"\\/bfnrt'.includes(text[at] as string)) {
      return 'damaged';
    }
  }
  return 'cut';
}

/** Index after the number or literal at `from`; `cut` where the text ends inside one that could still be completed. */
function wordEnd(text: string, from: number): number | 'cut' | 'damaged' {
  let at = from;
  while (at < text.length && /[\w.+-]/.test(text[at] as string)) at++;
  const word = text.slice(from, at);
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(word) || word === 'true' || word === 'false' || word === 'null') return at;
  if (at < text.length || word === '') return 'damaged';
  const isPrefix =
    ['true', 'false', 'null'].some((literal) => literal.startsWith(word)) || /^-?((0|[1-9]\d*)(\.\d*)?([eE][+-]?)?)?$/.test(word);
  return isPrefix ? 'cut' : 'damaged';
}

/**
 * Whether a damaged text stops before its object does: an unclosed string, or a bracket left open at the very end. Reads
 * single quotes as quotes too, and lets a closer end everything that stands open inside it. Deeper than the limit counts as
 * broken off: it could not be taken anyway, and the search for the opener stays short.
 */
function breaksOff(text: string): boolean {
  const open: string[] = [];
  let opened = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at] as string;
    if (char === '"' || (char === "'" && /[[{,:\s]/.test(text[at - 1] ?? ' '))) {
      const end = quoteEnd(text, at, char);
      if (end < 0) return opened;
      at = end;
    } else if (char === '{' || char === '[') {
      opened = true;
      if (open.push(char === '{' ? '}' : ']') > limits.maxJsonDepth) return true;
    } else if (char === '}' || char === ']') {
      const depth = open.lastIndexOf(char);
      if (depth >= 0) open.length = depth;
      if (opened && open.length === 0) return false;
    }
  }
  return opened;
}

function quoteEnd(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}
