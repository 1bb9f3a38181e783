/**
 * Parses server-sent events from providers and servers. Follows the WHATWG algorithm ("Interpreting an event stream"), with three
 * extensions that real providers need and that are left to the caller: an unfinished last message, a field called `error`, and JSON without
 * any field.
 */
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';

export type SseMessage = {
  /** `message` if the stream names none. */
  event: string;
  data: string;
  id?: string;
  /** Value of a field `error`, which the standard ignores; llama.cpp reports errors this way. Vertex AI sends bare JSON instead. */
  error?: string;
};

/** Incremental, and linear for any chunking. A message larger than the limit throws `upstream_error`. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #maxMessageBytes: number;
  /** The unfinished last line. It grows by concatenation; only new text is scanned. */
  #line = '';
  /** The last chunk ended with CR: an LF at the start of the next one belongs to it. */
  #afterCr = false;
  #data: string | null = null;
  #event = '';
  #id: string | undefined;
  #error: string | undefined;
  /** The field `retry` of the last event that had one: how long to wait before the stream is requested again. */
  retryMs: number | undefined;
  /** Lines of a JSON object in place of fields. No field name starts with a brace. */
  #bare: string | null = null;

  constructor(maxMessageBytes: number = limits.maxSseMessageBytes) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Returns the messages that `bytes` completes. */
  push(bytes: Uint8Array): SseMessage[] {
    return this.take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** Ends the stream. The standard drops an unfinished last message; here it is returned, and may be cut anywhere. */
  end(): SseMessage[] {
    return this.take(`${this.#decoder.decode()}\n\n`);
  }

  /** The same for text that was decoded. */
  take(decoded: string): SseMessage[] {
    const messages: SseMessage[] = [];
    const text = this.#unifyLineEnds(decoded);
    let from = 0;
    for (let to = text.indexOf('\n'); to >= 0; to = text.indexOf('\n', from)) {
      const rest = text.slice(from, to);
      const line = this.#line === '' ? rest : this.#line + rest;
      this.#line = '';
      from = to + 1;
      if (line !== '') this.#takeLine(line);
      else this.#dispatch(messages);
    }
    if (from < text.length) this.#line += from === 0 ? text : text.slice(from);
    this.#checkSize();
    return messages;
  }

  #unifyLineEnds(decoded: string): string {
    let text = decoded;
    if (this.#afterCr && text !== '') {
      if (text.startsWith('\n')) text = text.slice(1);
      this.#afterCr = false;
    }
    if (!text.includes('\r')) return text;
    this.#afterCr = text.endsWith('\r');
    return text.replace(/\r\n?/g, '\n');
  }

  #takeLine(line: string): void {
    if (line.startsWith('data:')) {
      const value = line.slice(line.charCodeAt(5) === 0x20 ? 6 : 5);
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
      this.#checkSize();
      return;
    }
    if (this.#bare !== null || (line.startsWith('{') && this.#data === null)) {
      this.#bare = this.#bare === null ? line : `${this.#bare}\n${line}`;
      this.#checkSize();
      return;
    }
    const colon = line.indexOf(':');
    // A line that starts with a colon is a comment.
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (name === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (name === 'event') this.#event = value;
    else if (name === 'id' && !value.includes('\0')) this.#id = value;
    else if (name === 'error') this.#error = value;
    else if (name === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(messages: SseMessage[]): void {
    if (this.#bare !== null) this.#error = this.#bare;
    if (this.#data !== null || this.#error !== undefined) {
      const message: SseMessage = { event: this.#event === '' ? 'message' : this.#event, data: this.#data ?? '' };
      if (this.#id !== undefined) message.id = this.#id;
      if (this.#error !== undefined) message.error = this.#error;
      messages.push(message);
    }
    this.#data = null;
    this.#event = '';
    this.#error = undefined;
    this.#bare = null;
  }

  /** Approximates bytes by UTF-16 units: at most a factor of three, and free. */
  #checkSize(): void {
    if (this.#line.length + (this.#data?.length ?? 0) + (this.#bare?.length ?? 0) <= this.#maxMessageBytes) return;
    throw new Problem('upstream_error', `The upstream sent an event larger than ${this.#maxMessageBytes} bytes.`, { retryable: false });
  }
}

export function isEventStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}
