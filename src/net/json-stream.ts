/**
 * Parses a stream of JSON values into their texts: the elements of one list (Gemini's `streamGenerateContent` without `alt=sse`), or values
 * one after another, usually a line each (Ollama). It recognizes only brackets, strings and what separates the values; the caller parses and
 * validates each of them. An incomplete last value is dropped.
 */
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';
import type { SseMessage } from './sse.ts';

/** Incremental, and linear for any chunking. A value larger than the limit throws `upstream_error`. */
export class JsonStreamReader {
  readonly #decoder = new TextDecoder();
  readonly #maxValueBytes: number;
  /** Before the first value, in a list, in values without one, or after the list, where the rest is ignored. */
  #state: 'before' | 'list' | 'lines' | 'over' = 'before';
  /** The unfinished value. It grows by concatenation; only new text is scanned. */
  #value = '';
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(maxValueBytes: number = limits.maxSseMessageBytes) {
    this.#maxValueBytes = maxValueBytes;
  }

  /** Returns the values that `bytes` completes, in the form of events without a name. */
  push(bytes: Uint8Array): SseMessage[] {
    return this.#state === 'over' ? [] : this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  end(): SseMessage[] {
    return [];
  }

  #read(text: string): SseMessage[] {
    const values: SseMessage[] = [];
    let from = 0;
    if (this.#state === 'before') {
      from = text.search(/\S/);
      if (from < 0) return values;
      this.#state = text[from] === '[' ? 'list' : 'lines';
      if (this.#state === 'list') from += 1;
    }
    const inList = this.#state === 'list';
    // Local variables, since these are read and written for every character, and field access would dominate the cost.
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === backslash) escaped = true;
        else if (code === quote) inString = false;
      } else if (code === quote) {
        inString = true;
      } else if (code === openBrace || code === openBracket) {
        depth++;
      } else if (depth > 0) {
        // An object is complete at its closing brace. What separates it may arrive only with the next value.
        if ((code !== closeBrace && code !== closeBracket) || --depth > 0) continue;
        this.#finish(text.slice(from, at + 1), values);
        from = at + 1;
      } else if (inList ? code === comma || code === closeBracket : code === lineFeed) {
        this.#finish(text.slice(from, at), values);
        from = at + 1;
        if (code !== closeBracket) continue;
        this.#state = 'over';
        return values;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    // Whitespace between values is discarded.
    const rest = text.slice(from);
    this.#value = this.#value === '' ? rest.trimStart() : this.#value + rest;
    if (this.#value.length > this.#maxValueBytes) {
      throw new Problem('upstream_error', `The upstream sent a value larger than ${this.#maxValueBytes} bytes.`, { retryable: false });
    }
    return values;
  }

  #finish(end: string, values: SseMessage[]): void {
    const data = (this.#value + end).trim();
    this.#value = '';
    if (data !== '') values.push({ event: 'message', data });
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const lineFeed = 0x0a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
