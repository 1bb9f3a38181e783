/**
 * Recovers calls that a server with native tool calls did not recognize, so that they stand in the text of the reply (contract §6): only if
 * the reply has no native call, and its whole text is exact calls of the request's tools in one of the formats. Holds the text back while
 * that is possible, which for other text is its first character. The parser is needed only for text that may begin with a call
 * (`needsParser`), so that other replies do not wait for its code. Used by the model client and for rewritten replies.
 */
import type { ChatEvent } from '../model/chat-event.ts';
import { limits } from '../limits/limits.ts';
import { utf8Length } from '../text/utf8.ts';
import type { TextToolCalls } from './tool-calls.ts';
import type { CallableTools } from './written-calls.ts';

/** `bare`: JSON without marks may be a call, because the reply was not asked to be JSON. */
export type LeakOptions = CallableTools & { bare: boolean };

const beginnings: readonly string[] = ['<', '[', '{', '`'];

export class LeakedCalls {
  readonly #options: LeakOptions;
  #Parser: typeof TextToolCalls | null;
  /** Not made for other text. */
  #reader: TextToolCalls | null = null;
  /** The calls so far, and the events of the reply since the first text. null: the reply is something else. */
  #found: ChatEvent[] | null = [];
  #held: ChatEvent[] = [];
  #hasText = false;
  #bytes = 0;

  constructor(options: LeakOptions, Parser: typeof TextToolCalls | null = null) {
    this.#options = options;
    this.#Parser = Parser;
  }

  /** Returns whether `useParser` must be called before the batch is taken. */
  needsParser(batch: readonly ChatEvent[]): boolean {
    if (this.#found === null || this.#Parser !== null || this.#hasText) return false;
    return batch.some((event) => event.type === 'text' && beginnings.some((begin) => event.text.trimStart().startsWith(begin)));
  }

  useParser(Parser: typeof TextToolCalls): void {
    this.#Parser = Parser;
  }

  /** What follows passes unchanged. */
  get isDecided(): boolean {
    return this.#found === null;
  }

  /** Text is held back. */
  get isHolding(): boolean {
    return this.#found !== null && this.#held.length > 0;
  }

  take(batch: readonly ChatEvent[]): readonly ChatEvent[] {
    return this.#found === null ? batch : batch.flatMap((event) => this.#takeEvent(event));
  }

  #takeEvent(event: ChatEvent): ChatEvent[] {
    if (this.#found === null) return [event];
    switch (event.type) {
      case 'text':
        return event.refusal ? this.#release(event) : this.#takeText(event);
      case 'finish':
        return this.#finish(event);
      case 'reasoning':
      case 'native':
      case 'citations':
      case 'search':
      case 'usage':
        if (this.#hasText) this.#held.push(event);
        else return this.#pass(event);
        return [];
      case 'call-start':
      case 'call-delta':
      case 'call-end':
      case 'image':
      case 'error':
        return this.#release(event);
      default:
        return event satisfies never;
    }
  }

  #takeText(event: Extract<ChatEvent, { type: 'text' }>): ChatEvent[] {
    this.#bytes += utf8Length(event.text);
    const begin = this.#hasText ? '' : event.text.trimStart().charAt(0);
    this.#hasText ||= begin !== '';
    if (begin !== '' && !beginnings.includes(begin)) return this.#release(event);
    if (!this.#hasText && this.#bytes <= limits.maxArgumentBytes) {
      this.#held.push(event);
      return [];
    }
    if (this.#Parser === null) throw new Error('text that may be a call was taken without the parser');
    this.#reader ??= new this.#Parser({ ...this.#options, otherwise: 'leak' });
    if (!this.#collect(this.#reader.push(event.text)) || this.#bytes > limits.maxArgumentBytes) return this.#release(event);
    this.#held.push(event);
    return [];
  }

  /** Returns false if these are not only exact calls. */
  #collect(events: readonly ChatEvent[]): boolean {
    this.#found?.push(...events.filter(({ type }) => type !== 'text'));
    return events.every((event) => {
      if (event.type === 'text') return event.text.trim() === '';
      return event.type === 'call-end' ? event.state === 'ok' : event.type === 'call-start' || event.type === 'call-delta';
    });
  }

  #finish(event: Extract<ChatEvent, { type: 'finish' }>): ChatEvent[] {
    const isCut = event.reason === 'length' || event.reason === 'content-filter';
    const reader = this.#reader;
    const areCalls = !isCut && reader !== null && this.#collect(reader.finish({ ended: true, length: false })) && !reader.overflowed;
    const found = this.#found ?? [];
    const count = found.filter(({ type }) => type === 'call-end').length;
    if (!areCalls || count === 0) return this.#release(event);
    this.#found = null;
    const others = this.#held.filter(({ type }) => type !== 'text');
    const calls = found.map((call): ChatEvent => (call.type === 'call-end' ? { ...call, recovered: true } : call));
    return [...others, ...calls, { ...event, reason: 'tool-calls', ...(count > 1 && { inOrder: true }) }];
  }

  /** Nothing but white space is held. */
  #pass(event: ChatEvent): ChatEvent[] {
    const held = this.#held;
    this.#held = [];
    return [...held, event];
  }

  #release(event: ChatEvent): ChatEvent[] {
    this.#found = null;
    return this.#pass(event);
  }
}
