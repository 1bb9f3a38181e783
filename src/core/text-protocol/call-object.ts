/**
 * Follows one `{"name": …, "arguments": …}` that a model writes, character by character: where it ends, its name, and where its arguments
 * begin, so that they can be passed on while they arrive. Stores only the name and parses no values; `json-repair.ts` does that at the end.
 * Used by `call-block.ts`. It also follows near-JSON (single quotes, missing commas, bare words) as far as possible, and marks it.
 */
import { limits } from '../limits.ts';
import { readArguments } from '../json/json-repair.ts';
import { isRecord } from '../json/wire-value.ts';

/** `call`: the object contains the name and the arguments; `arguments`: it is the arguments; `list`: calls in brackets. */
export type ObjectShape = 'call' | 'arguments' | 'list';

export class CallObject {
  name: string | null = null;
  /** Offsets in the text of the object; -1: absent, or not reached yet. */
  argumentsFrom = -1;
  argumentsTo = -1;
  complete = false;
  /** It needs repair: it is not strict JSON, or contains a key twice. */
  repaired = false;
  /** It is not a tool call: no further text was consumed. */
  refuted = false;

  readonly #isCall: boolean;
  /** Checks the name while it is not certain that this is a call; null: it is a call in any case. */
  #isTool: ((name: string) => boolean) | null;
  #taken = 0;
  #depth = 0;
  /** The quote that ends the current string; 0 outside of strings. */
  #quote = 0;
  #escaped = false;
  /** The last character outside of strings that was not white space. */
  #previous = 0;
  #expects: 'key' | 'colon' | 'value' | 'next' | 'nothing' = 'key';
  #afterComma = false;
  /** The current element at the object's top level. */
  #inside: 'key' | 'name' | 'string' | 'container' | 'scalar' | null = null;
  #key = '';
  /** It has a key that calls do not have, or arguments that are neither an object nor a string. */
  #isForeign = false;
  #word = '';

  /** With `isTool`, it is a call only if it is strict JSON with nothing but the name of a tool and its arguments. */
  constructor(shape: ObjectShape, isTool: ((name: string) => boolean) | null = null) {
    this.#isTool = isTool;
    this.#isCall = shape === 'call';
    if (shape === 'arguments') this.argumentsFrom = 0;
    if (!this.#isCall) this.#expects = 'nothing';
  }

  /** The number of characters consumed. */
  get length(): number {
    return this.#taken;
  }

  /** Stops at a `<` outside of strings, which may begin a tag. `isText`: the text is known not to be a tag. */
  take(text: string, from: number, isText = false): number {
    const base = this.#taken - from;
    let at = from;
    while (at < text.length && !this.complete && !this.refuted) {
      if (this.#quote !== 0) {
        at = this.#inString(text, at, base);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === lessThan && !isText) break;
      if (!isSpace(code)) this.#outside(code, base + at);
      at++;
      if (this.#isTool !== null) this.#prove();
    }
    this.#taken = base + at;
    return at;
  }

  /** Reads the current string, to its end at most. */
  #inString(text: string, from: number, base: number): number {
    let at = from;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (this.#escaped) this.#escaped = false;
      else if (code === backslash) this.#escaped = true;
      else if (code === this.#quote) break;
    }
    if (this.#inside === 'key' || this.#inside === 'name') {
      if (this.#word.length <= limits.maxToolNameLength) this.#word += text.slice(from, Math.min(at, from + limits.maxToolNameLength + 1));
    }
    if (at === text.length) return at;
    this.#endString(base + at + 1);
    if (this.#isTool !== null) this.#prove();
    return at + 1;
  }

  #prove(): void {
    const isKnown = this.name === null || this.#isTool?.(this.name) === true;
    const isComplete = this.name !== null && this.argumentsFrom >= 0;
    if (this.repaired || this.#isForeign || !isKnown || (this.complete && !isComplete)) this.refuted = true;
    else if (isComplete) this.#isTool = null;
  }

  #endString(offset: number): void {
    const quote = this.#quote;
    this.#quote = 0;
    this.#previous = quote;
    if (this.#inside === 'key') {
      this.#key = this.#decode(quote);
      if (!callKeys.includes(this.#key)) this.#isForeign = true;
      this.#inside = null;
      this.#expects = 'colon';
    } else if (this.#inside === 'name') {
      const name = this.#decode(quote);
      if (this.name === null && name !== '') this.name = name;
      else this.repaired = true;
      this.#endValue(offset);
    } else if (this.#inside === 'string') {
      this.#endValue(offset);
    }
  }

  #outside(code: number, offset: number): void {
    const previous = this.#previous;
    this.#previous = code;
    if (code === quote || (code === apostrophe && mayBeginString(previous))) this.#beginString(code, offset);
    else if (code === openBrace || code === openBracket) this.#open(offset);
    else if (code === closeBrace || code === closeBracket) this.#close(offset);
    else if (this.#depth === 1 && this.#isCall) this.#ownLevel(code, offset);
  }

  #beginString(code: number, offset: number): void {
    this.#quote = code;
    if (this.#depth !== 1 || !this.#isCall) return;
    if (code === apostrophe) this.repaired = true;
    this.#word = '';
    if (this.#expects === 'key') {
      this.#inside = 'key';
      this.#expects = 'nothing';
    } else if (this.#expects === 'value') {
      this.#beginValue(offset, code);
      this.#inside = this.#key === 'name' ? 'name' : 'string';
    } else {
      this.#stopTracking();
    }
  }

  #open(offset: number): void {
    if (this.#depth === 1 && this.#isCall) {
      if (this.#expects === 'value') {
        this.#beginValue(offset, this.#previous);
        this.#inside = 'container';
      } else {
        this.#stopTracking();
      }
    }
    this.#depth++;
  }

  #close(offset: number): void {
    this.#depth--;
    if (this.#depth === 1 && this.#inside === 'container') this.#endValue(offset + 1);
    if (this.#depth > 0) return;
    if (this.#inside === 'scalar') this.#endValue(offset);
    if (this.#isCall && (this.#expects === 'key' ? this.#afterComma : this.#expects !== 'next')) this.repaired = true;
    this.complete = true;
    if (!this.#isCall && this.argumentsFrom >= 0) this.argumentsTo = offset + 1;
  }

  /** A character at the object's top level that is neither a bracket nor a quote. */
  #ownLevel(code: number, offset: number): void {
    if (this.#inside === 'scalar') {
      if (code !== comma) return;
      this.#endValue(offset);
    }
    if (this.#expects === 'colon' && code === colon) {
      this.#expects = 'value';
    } else if (this.#expects === 'next' && code === comma) {
      this.#expects = 'key';
      this.#afterComma = true;
    } else if (this.#expects === 'value' && code !== comma && code !== colon) {
      this.#beginValue(offset, code);
      this.#inside = 'scalar';
    } else {
      this.#stopTracking();
    }
  }

  #beginValue(offset: number, begin: number): void {
    this.#expects = 'nothing';
    const isArguments = this.#key === 'arguments' || this.#key === 'parameters';
    if (isArguments && this.argumentsFrom < 0) {
      this.argumentsFrom = offset;
      if (begin !== openBrace && begin !== quote) this.#isForeign = true;
    } else if (isArguments) {
      this.repaired = true;
    }
  }

  #endValue(offset: number): void {
    this.#inside = null;
    this.#expects = 'next';
    if (this.argumentsFrom >= 0 && this.argumentsTo < 0) this.argumentsTo = offset;
  }

  /** From here on only brackets and quotes are followed. */
  #stopTracking(): void {
    this.repaired = true;
    this.#inside = null;
    this.#expects = 'nothing';
  }

  #decode(quote: number): string {
    const word = this.#word;
    this.#word = '';
    if (word.length > limits.maxToolNameLength) {
      this.repaired = true;
      return '';
    }
    try {
      const text: unknown = JSON.parse(`"${quote === apostrophe ? word.replaceAll("\\'", "'").replaceAll('"', '\\"') : word}"`);
      return String(text);
    } catch {
      // Not a valid JSON string: it is used unchanged, and the call is marked.
      this.repaired = true;
      return word;
    }
  }
}

const callKeys = ['name', 'arguments', 'parameters'];

/** In "don't" the mark is an apostrophe; after a bracket, comma or colon it is a quote. */
function mayBeginString(previous: number): boolean {
  return previous === openBrace || previous === openBracket || previous === comma || previous === colon;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

const quote = 0x22;
const apostrophe = 0x27;
const comma = 0x2c;
const colon = 0x3a;
const lessThan = 0x3c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export type RepairedCall = {
  name: string;
  arguments: object | string | null;
  /** No repair was necessary. */
  exact: boolean;
};

/**
 * Parses the calls in the complete text of a block that could not be parsed incrementally: lists, unquoted keys, a brace lost between
 * arguments and name. Uses the same parser as for arguments, so that both repair the same errors. Returns [] if there is no call, or
 * if the text is incomplete.
 */
export function repairCalls(text: string, isTool: (name: string) => boolean): RepairedCall[] {
  // A list is wrapped in an object, since the parser expects objects.
  const isList = text.trimStart().startsWith('[');
  const { state, arguments: value } = readArguments(isList ? `{"calls":${text}}` : text, { ended: true, length: false });
  if (value === null) return [];
  const items = isList && Array.isArray(value.calls) ? value.calls : [value];
  const calls = items.flatMap((item) => toCall(item, isTool) ?? []);
  const exact = state === 'ok' && calls.length === items.length && calls.every((call) => call.exact);
  return calls.map((call) => ({ ...call, exact }));
}

function toCall(value: unknown, isTool: (name: string) => boolean): RepairedCall | null {
  if (!isRecord(value)) return null;
  const { name } = value;
  const given = value.arguments ?? value.parameters ?? null;
  const args = typeof given === 'object' || typeof given === 'string' ? given : JSON.stringify(given);
  if (typeof name === 'string' && name !== '') return { name, arguments: args, exact: true };
  return name === undefined && isRecord(args) ? lifted(args, isTool) : null;
}

/** One closing brace was lost, so that the name is at the end of the arguments. */
function lifted(args: Record<string, unknown>, isTool: (name: string) => boolean): RepairedCall | null {
  const { name, ...others } = args;
  if (typeof name !== 'string' || Object.keys(args).at(-1) !== 'name' || !isTool(name)) return null;
  return { name, arguments: others, exact: false };
}
