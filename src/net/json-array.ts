/**
 * Parses a stream that is one JSON array into the texts of its elements; some APIs stream this way instead of an event stream (Gemini's
 * `streamGenerateContent` without `alt=sse`). It recognizes only brackets and strings; the caller parses and validates each element. An
 * incomplete last element is dropped.
 */
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';

/** Incremental, and linear for any chunking. An element larger than the limit throws `upstream_error`. */
export class JsonArrayReader {
  readonly #decoder = new TextDecoder();
  readonly #maxElementBytes: number;
  /** Position relative to the array: before it, inside it, or after it, where the rest is ignored. */
  #state: 'before' | 'inside' | 'over' = 'before';
  /** The unfinished element. It grows by concatenation; only new text is scanned. */
  #element = '';
  #depth = 0;
  #inString = false;
  #escaped = false;

  constructor(maxElementBytes: number = limits.maxSseMessageBytes) {
    this.#maxElementBytes = maxElementBytes;
  }

  /** Returns the texts of the elements that `bytes` completes. */
  push(bytes: Uint8Array): string[] {
    return this.#state === 'over' ? [] : this.#read(this.#decoder.decode(bytes, { stream: true }));
  }

  #read(text: string): string[] {
    const elements: string[] = [];
    let from = 0;
    if (this.#state === 'before') {
      from = text.indexOf('[') + 1;
      if (from === 0) return elements;
      this.#state = 'inside';
    }
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
        // An object is complete at its closing brace. The comma may arrive only with the next element.
        if ((code !== closeBrace && code !== closeBracket) || --depth > 0) continue;
        this.#finish(text.slice(from, at + 1), elements);
        from = at + 1;
      } else if (code === comma || code === closeBracket) {
        this.#finish(text.slice(from, at), elements);
        from = at + 1;
        if (code === comma) continue;
        this.#state = 'over';
        return elements;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    // Whitespace between elements is discarded.
    const rest = text.slice(from);
    this.#element = this.#element === '' ? rest.trimStart() : this.#element + rest;
    if (this.#element.length > this.#maxElementBytes) {
      throw new Problem('upstream_error', `The upstream sent an element larger than ${this.#maxElementBytes} bytes.`, { retryable: false });
    }
    return elements;
  }

  #finish(end: string, elements: string[]): void {
    const element = (this.#element + end).trim();
    this.#element = '';
    if (element !== '') elements.push(element);
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
