/**
 * Splits reasoning from the text of replies of models whose servers leave it there (`thinkTags` of the profile), in turns and translated chats;
 * replies of the client's own API keep it. What was in the text goes back in the text, marked by data of the message.
 */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { shiftCitations } from '../core/model/citation.ts';
import { ThinkingText, type ThinkingPiece } from '../core/model/think-tags.ts';
import type { ChatNative } from '../dialects/openai-chat/own-fields.ts';

type Reply = AsyncIterable<readonly ChatEvent[]>;

/** Not a generator, because each batch would cost a turn of the event loop per generator. */
export function withSplitThinking(reply: Reply, provider: string, isOpened: boolean): Reply {
  const reader = new ThinkingReply(provider, isOpened);
  return {
    [Symbol.asyncIterator]() {
      const batches = reply[Symbol.asyncIterator]();
      const split = async (): Promise<IteratorResult<readonly ChatEvent[]>> => {
        for (;;) {
          const read = await batches.next();
          const events = read.done ? [] : read.value.flatMap((event) => reader.take(event));
          if (read.done || events.length > 0) return read.done ? read : { done: false, value: events };
        }
      };
      const end = { done: true as const, value: undefined };
      return { next: () => (reader.isDecided ? batches.next() : split()), return: async () => (await batches.return?.()) ?? end };
    },
  };
}

class ThinkingReply {
  readonly #provider: string;
  readonly #text: ThinkingText;
  /** The server has a field for reasoning. */
  #hasField = false;
  #isMarked = false;
  /** The characters of the reply's text that were reasoning. */
  #removed = 0;
  #hasCalls = false;

  constructor(provider: string, isOpened: boolean) {
    this.#provider = provider;
    this.#text = new ThinkingText(isOpened);
  }

  /** What follows passes unchanged. */
  get isDecided(): boolean {
    return this.#hasField || (this.#text.isDecided && this.#removed === 0);
  }

  take(event: ChatEvent): ChatEvent[] {
    if (this.isDecided) return [event];
    switch (event.type) {
      case 'text':
        return event.refusal ? [event] : this.#split(event.text.length, this.#text.push(event.text));
      case 'reasoning':
        this.#hasField = !this.#isMarked;
        return this.#hasField ? [...this.#split(0, this.#text.finish(true)), event] : [event];
      case 'citations':
        return [{ ...event, citations: shiftCitations(event.citations, -this.#removed) }];
      case 'finish':
        return [...this.#end(this.#hasCalls || event.reason === 'length' || event.reason === 'content-filter'), event];
      case 'error':
        return [...this.#end(true), event];
      case 'call-start':
        this.#hasCalls = true;
        return this.#text.isInReasoning ? [event] : [...this.#end(true), event];
      case 'call-delta':
      case 'call-end':
      case 'native':
      case 'usage':
      case 'search':
      case 'image':
        return [event];
      default:
        return event satisfies never;
    }
  }

  #end(isCut: boolean): ChatEvent[] {
    return this.#split(0, this.#text.finish(isCut));
  }

  #split(length: number, pieces: readonly ThinkingPiece[]): ChatEvent[] {
    const events: ChatEvent[] = [];
    this.#removed += length;
    for (const piece of pieces) {
      if (piece.type === 'text') {
        this.#removed -= piece.text.length;
        events.push(...this.#mark());
      }
      events.push(piece);
    }
    return this.#text.open === null ? events : [...events, ...this.#mark()];
  }

  /** Behind the reasoning. */
  #mark(): ChatEvent[] {
    const { open } = this.#text;
    if (open === null || this.#isMarked) return [];
    this.#isMarked = true;
    const data: ChatNative = { api: 'openai-chat', inText: open };
    return [{ type: 'native', provider: this.#provider, data }];
  }
}
