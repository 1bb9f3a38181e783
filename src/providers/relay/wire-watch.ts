/**
 * Whether clients can read a provider's reply as it is. A watch follows the messages of one reply beside the `ReplyReader`, whose events say
 * what the reply means: where a message says it in another way than clients of this wire expect, it is odd, and the relay (`relay.ts`)
 * encodes the reply from there on. Everything that a watch does not know is regular.
 */
import type { Json } from '../../core/json/wire-value.ts';
import type { ChatEvent } from '../../core/model/chat-event.ts';
import type { AnswerFrame } from '../../dialects/dialect.ts';
import type { Piece } from './similar-messages.ts';

/** One message of a stream. `body`: parsed; null: it is not a JSON object. */
export type WatchedMessage = { name: string; data: string; body: Json | null };

export type WireWatch = {
  /** Returns whether the message is regular. Not called again after an odd one. */
  take(message: WatchedMessage, events: readonly ChatEvent[]): boolean;
  /** False: a later message may decide that one of those before was odd, so they wait for it. */
  isSettled(): boolean;
  /** Returns the frames that a reply without an end mark lacks; null: it lacks more, or what it says is odd. */
  end(events: readonly ChatEvent[]): AnswerFrame[] | null;
  /** The client receives the message. */
  show(body: Json): void;
  /**
   * Takes the frames of an encoder for what the client has received. Returns what changes a later frame of that encoder so that it
   * continues those of the provider.
   */
  align(shown: readonly AnswerFrame[]): (frame: AnswerFrame) => readonly AnswerFrame[];
  /** Returns the items that the client has received, for `item_reference` of Responses. */
  items?(): readonly unknown[];
};

export type WatchedWire = {
  createWatch(): WireWatch;
  /** Returns the piece of text or of arguments that a message of a stream brings; null: it brings more, or something else. */
  pieceOf(body: Json): Piece | null;
  /** Returns whether clients can read an unstreamed reply. */
  isRegular(reply: Json, events: readonly ChatEvent[]): boolean;
  /** Returns the reply with what clients cannot read taken from `encoded`, the same reply in the canonical form. */
  mend(reply: Json, encoded: Json): Json;
};

/**
 * Counts the calls of a reply: as its messages have them, and as they were read. A reader waits where it is not certain yet what a piece
 * means, and drops and adds text where arguments are invalid: then the two differ.
 */
export class CallCount {
  /** Of the messages. */
  #begun = 0;
  #text = 0;
  /** Of the events. */
  #started = 0;
  #read = 0;
  #ended = 0;
  #hasEmpty = false;

  get begun(): number {
    return this.#begun;
  }

  begin(): void {
    this.#begun += 1;
  }

  /** `text`: a piece of arguments. */
  add(text: unknown): void {
    if (typeof text === 'string') this.#text += text.length;
  }

  read(events: readonly ChatEvent[]): void {
    for (const event of events) {
      if (event.type === 'call-start') this.#started += 1;
      else if (event.type === 'call-delta') this.#read += event.text.length;
      else if (event.type === 'call-end') {
        this.#ended += 1;
        // Encoded, an empty text becomes an empty object.
        this.#hasEmpty ||= event.state === 'ok' && /^\s*(?:null)?\s*$/.test(event.raw);
      }
    }
  }

  /** Everything was read as the messages have it. */
  isSame(): boolean {
    return this.#begun === this.#started && this.#text === this.#read;
  }

  /** More was read than the messages have. */
  isMore(): boolean {
    return this.#started > this.#begun || this.#read > this.#text;
  }

  hasEnded(): boolean {
    return this.#ended === this.#begun;
  }

  /** Whether a call has no arguments. */
  hasEmpty(): boolean {
    return this.#hasEmpty;
  }
}

export function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
