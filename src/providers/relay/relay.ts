/**
 * Passes a streamed reply of the client's own wire on as it arrives, and encodes it from the first message on that clients cannot read. The
 * reader of the wire reads every message, so that the reply is metered and its events are known when the encoder has to continue it: the
 * encoder first gets the events of what the client has received, and its frames for these are dropped.
 */
import { limits } from '../../core/limits/limits.ts';
import type { Json } from '../../core/json/wire-value.ts';
import { type ChatEvent, isRecovered } from '../../core/model/chat-event.ts';
import { recoveredComment } from '../../core/model/recovered-calls.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import type { LeakedCalls } from '../../core/text-protocol/leaked-calls.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import { encodeFrame } from '../../dialects/native.ts';
import type { ReplyEncoder } from '../../dialects/reply-encoder.ts';
import { type SseMessage, SseParser } from '../../net/sse.ts';
import type { ReplyReader } from '../adapter.ts';
import { malformedProblem } from '../provider-error.ts';
import { readerFor, type ReplyBytes } from '../transport.ts';
import { SimilarMessages } from './similar-messages.ts';
import type { WatchedWire, WireWatch } from './wire-watch.ts';

export type Relaying = {
  access: ProviderAccess;
  reply: ReplyReader;
  wire: WatchedWire;
  /** Created when it is needed. */
  encoder(): ReplyEncoder;
  /** Recovers calls in the text, which is held back while it may be only that. */
  leaks?: LeakedCalls | null;
  /** Changes a message for the client, which is written anew then; undefined: it needs no change; null: the client does not get it. */
  patch?: ((body: Json) => Json | null | undefined) | undefined;
};

/** A message, with the text between it and the one before; `body`: parsed. */
type HeldMessage = { raw: string; name: string; body: Json | null };

export class Relay implements ReplyBytes {
  readonly #with: Relaying;
  readonly #watch: WireWatch;
  readonly #similar: SimilarMessages;
  readonly #decoder = new TextDecoder();
  readonly #parser = new SseParser();
  /** Of a reply that is not an event stream. */
  #otherwise: ReplyBytes | null = null;
  #isStream = false;
  /** The text of an incomplete message. */
  #rest = '';
  #hasReturns = false;
  /** Messages that may turn out to be odd, and their events. */
  #held: HeldMessage[] = [];
  #heldEvents: ChatEvent[] = [];
  /** The events of what the client has received; adjacent pieces are joined. */
  #shown: ChatEvent[] = [];
  #hasShown = false;
  #encode: ((events: readonly ChatEvent[]) => string) | null = null;
  #isOver = false;
  /** For the client. */
  #output = '';
  #hasBegun = false;

  constructor(relaying: Relaying) {
    this.#with = relaying;
    this.#watch = relaying.wire.createWatch();
    this.#similar = new SimilarMessages(relaying.wire.pieceOf);
  }

  bytes(value: Uint8Array): ChatEvent[] {
    if (this.#otherwise !== null) return this.#other(this.#otherwise.bytes(value));
    if (!this.#isStream) {
      const first = value.find((byte) => byte > 0x20 && byte < 0x80);
      if (first === 0x7b || first === 0x5b) {
        this.#otherwise = readerFor(this.#with.access, this.#with.reply);
        return this.bytes(value);
      }
      this.#isStream = first !== undefined;
    }
    this.#hasReturns ||= value.includes(0x0d);
    const events: ChatEvent[] = [];
    const from = Math.max(0, this.#rest.length - 3);
    const text = this.#rest + this.#decoder.decode(value, { stream: true });
    let begin = 0;
    for (;;) {
      const similar = this.#with.leaks?.isDecided === false ? null : this.#similar.match(text, begin);
      const end = similar === null ? this.#frameEnd(text, Math.max(from, begin)) : begin + similar.raw.length;
      if (end === 0) break;
      if (similar === null) this.#takeFrame(text.slice(begin, end), events);
      else events.push(...this.#takeMessage({ event: similar.name, data: '' }, similar.raw, similar.body));
      begin = end;
    }
    this.#rest = text.slice(begin);
    if (this.#rest.length > limits.maxSseMessageBytes)
      throw malformedProblem(this.#with.access, `sent an event larger than ${limits.maxSseMessageBytes} bytes`);
    return events;
  }

  end(): ChatEvent[] {
    if (this.#otherwise !== null) return this.#other(this.#otherwise.end());
    if (!this.#isStream) throw malformedProblem(this.#with.access, 'sent a reply that is neither JSON nor an event stream');
    const events: ChatEvent[] = [];
    const rest = this.#rest + this.#decoder.decode();
    if (rest.trim() !== '') this.#takeFrame(`${rest}\n\n`, events);
    const last = this.#with.reply.end();
    if (last.length === 0) return events;
    const shown = this.#withoutLeaks(last);
    const isOdd = this.#encode !== null || last.at(-1)?.type !== 'finish' || shown.some(isRecovered);
    const frames = isOdd ? null : this.#watch.end(last);
    if (frames === null) this.#write(shown);
    else {
      this.#release();
      this.#output += frames.map(encodeFrame).join('');
      this.#isOver = true;
    }
    return [...events, ...last];
  }

  /** Whether something can be sent that no event stands for. Not before the first event, which may be an error of the request. */
  hasMore(): boolean {
    return this.#hasBegun && this.#output !== '';
  }

  /** Returns what the client gets for a batch of events, which may end with a failure of the transport. */
  output(batch: readonly ChatEvent[]): string {
    this.#hasBegun = true;
    if (!this.#isOver && batch.at(-1)?.type === 'error') this.#write(this.#withoutLeaks(batch));
    const output = this.#output;
    this.#output = '';
    return output;
  }

  /** Returns the items of a reply of Responses that the client has received. */
  items(): readonly unknown[] {
    return this.#watch.items?.() ?? [];
  }

  /** Returns the index after the next blank line; 0: there is none. */
  #frameEnd(text: string, from: number): number {
    if (this.#hasReturns) {
      blankLine.lastIndex = from;
      return blankLine.exec(text) === null ? 0 : blankLine.lastIndex;
    }
    const at = text.indexOf('\n\n', from);
    return at < 0 ? 0 : at + 2;
  }

  #takeFrame(raw: string, events: ChatEvent[]): void {
    const messages = this.#parser.take(raw);
    // A comment.
    if (messages.length === 0 && raw.trim() !== '') this.#output += raw;
    for (const message of messages) events.push(...this.#takeMessage(message, raw));
  }

  /** `known`: the body, if it was not parsed. */
  #takeMessage(message: SseMessage, raw: string, known?: Json): ChatEvent[] {
    if (this.#isOver) return [];
    const { reply, leaks } = this.#with;
    const events = reply.take(message, known);
    const shown = this.#withoutLeaks(events);
    if (this.#encode !== null) {
      this.#encoded(shown);
      return events;
    }
    const { event: name, data } = message;
    const body = reply.message;
    if (message.error !== undefined || !this.#watch.take({ name, data, body }, events) || shown.some(isRecovered)) {
      this.#write(shown);
      return events;
    }
    this.#held.push({ raw, name, body });
    if (known === undefined && body !== null && this.#with.patch?.(body) === undefined) this.#similar.learn({ raw, name, body });
    this.#heldEvents.push(...shown);
    this.#isOver = reply.state === 'over';
    if (this.#isOver || (this.#watch.isSettled() && leaks?.isHolding !== true)) this.#release();
    return events;
  }

  #release(): void {
    for (const message of this.#held) this.#output += this.#shownText(message);
    for (const event of this.#heldEvents) addEvent(this.#shown, event);
    this.#held = [];
    this.#heldEvents = [];
    this.#hasShown = true;
  }

  #shownText({ raw, name, body }: HeldMessage): string {
    if (body === null) return raw;
    const patched = this.#with.patch?.(body);
    if (patched === null) return '';
    this.#watch.show(patched ?? body);
    if (patched === undefined) return raw;
    return encodeFrame({ ...(name !== 'message' && { event: name }), data: JSON.stringify(patched) });
  }

  #withoutLeaks(events: readonly ChatEvent[]): readonly ChatEvent[] {
    return this.#with.leaks?.take(events) ?? events;
  }

  #encoded(events: readonly ChatEvent[]): void {
    if (events.length > 0) this.#write(events);
  }

  #other(events: ChatEvent[]): ChatEvent[] {
    this.#encoded(this.#withoutLeaks(events));
    return events;
  }

  #write(events: readonly ChatEvent[]): void {
    this.#encode ??= this.#continue();
    this.#output += recoveredComment(events) + this.#encode(events);
    const last = events.at(-1)?.type;
    this.#isOver ||= last === 'finish' || last === 'error';
  }

  /** Returns the encoder of the rest, which begins with what was held back. */
  #continue(): (events: readonly ChatEvent[]) => string {
    const encoder = this.#with.encoder();
    const received = this.#hasShown ? [...encoder.begin(), ...this.#shown.flatMap(encoder.frames)] : [];
    const align = this.#hasShown ? this.#watch.align(received) : (frame: AnswerFrame) => [frame];
    const encode = (events: readonly ChatEvent[]): string => {
      let text = '';
      for (const event of events)
        for (const frame of encoder.frames(event)) for (const aligned of align(frame)) text += encodeFrame(aligned);
      return text;
    };
    this.#output += encode(this.#heldEvents);
    this.#held = [];
    this.#heldEvents = [];
    this.#shown = [];
    return encode;
  }
}

const blankLine = /(?:\r\n|\n|\r(?!\n)){2}/g;

function addEvent(events: ChatEvent[], event: ChatEvent): void {
  const last = events.at(-1);
  if (last?.type === 'text' && event.type === 'text' && last.refusal === event.refusal) last.text += event.text;
  else if (last?.type === 'reasoning' && event.type === 'reasoning' && event.nativeId === undefined) last.text += event.text;
  else if (last?.type === 'call-delta' && event.type === 'call-delta' && last.call === event.call) last.text += event.text;
  else events.push({ ...event });
}
