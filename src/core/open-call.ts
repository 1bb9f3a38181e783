/**
 * One call while its pieces come in: its name, its argument text, what of it may be passed on, and what it comes to in the end. Which
 * pieces are its own is for `tool-call-assembler.ts`, its only user.
 */
import { BraceCounter } from './brace-counter.ts';
import type { CallPiece, CarrierFault } from './call-piece.ts';
import type { ChatEvent } from './chat-event.ts';
import { GrowingText } from './growing-text.ts';
import { type ArgumentReading, readArguments } from './json-repair.ts';
import { limits } from './limits.ts';
import { isRecord } from './wire-value.ts';

/** `ended`: the wire said that the reply is over; `length`: it stopped at a limit. */
export type Ending = { ended: boolean; length: boolean };

export class OpenCall {
  readonly call: number;
  id: string | null = null;
  index: number | null = null;
  name = '';
  custom = false;
  carrier: CarrierFault | null = null;
  released = false;
  ended = false;
  oversized = false;
  /** Argument text that waits for the name. */
  unsent = '';
  /** The call's text; nothing reads all of it before the end. */
  readonly #body = new GrowingText();
  /** What came after the object was whole; passed on to nobody. */
  readonly #surplus = new GrowingText();
  /**
   * `null` stands for no arguments, and a text that begins with a quote is an object encoded twice: neither passes as it
   * comes. The first few bytes wait until it is clear what they are.
   */
  #passes: 'undecided' | 'yes' | 'withheld' = 'undecided';
  readonly #braces = new BraceCounter();
  /** All of the arguments, where they came as an object and nothing after it: they need not be parsed again. */
  #given: Record<string, unknown> | null = null;

  constructor(call: number) {
    this.call = call;
  }

  get isWhole(): boolean {
    return this.#braces.isWhole;
  }

  /** Whether an unknown id names this call, which had none, and does not begin another one. */
  takesId(piece: CallPiece): boolean {
    if (this.id === null) return !(piece.name && this.name !== '' && piece.index == null);
    // Some servers make up an id for every delta: without a name, in the middle of the arguments, it means nothing.
    return piece.index != null && !piece.name && this.#body.length > 0 && !this.isWhole;
  }

  /** Whether a piece that was routed here is the start of another call after all. */
  isAnother(piece: CallPiece, text: string): boolean {
    if (!piece.name || !this.isWhole || this.custom) return false;
    if (piece.name !== this.name) return true;
    return text.trimStart().startsWith('{') && !this.repeats(text);
  }

  repeats(text: string): boolean {
    return this.isWhole && this.#body.length === text.length && this.#body.read() === text;
  }

  /** All of the arguments once more, as some servers send with their last piece. */
  isRepetition(text: string, piece: CallPiece): boolean {
    return piece.name !== '' && piece.name != null && this.repeats(text);
  }

  /** The first name counts. Before any argument text it may still grow: a longer form replaces it, another piece is joined. */
  takeName(name: string): void {
    if (this.name === '') this.name = name;
    else if (!this.released && this.#body.length === 0 && name !== this.name)
      this.name = name.startsWith(this.name) ? name : this.name + name;
    if (this.name.length > limits.maxToolNameBytes) this.name = this.name.slice(0, limits.maxToolNameBytes);
  }

  /** Keeps the text and gives what of it may be passed on now. `source`: what it was made from, if that was an object. */
  takeText(text: string, source: CallPiece['arguments']): string {
    const isFirst = this.#body.length + this.#surplus.length === 0;
    this.#given = null;
    if (this.#body.length + this.#surplus.length + text.length > limits.maxArgumentBytes) {
      this.oversized = true;
      return '';
    }
    if (this.custom) {
      this.#body.append(text);
      return text;
    }
    if (isFirst && isRecord(source)) {
      this.#given = source;
      this.#braces.isWhole = true;
      this.#passes = 'yes';
      this.#body.append(text);
      return text;
    }
    const used = this.#braces.count(text);
    const own = used === text.length ? text : text.slice(0, used);
    this.#body.append(own);
    if (used < text.length) this.#surplus.append(text.slice(used));
    if (this.#passes === 'yes') return own;
    return this.#passes === 'withheld' ? '' : this.#decide();
  }

  /** Nothing of the body has passed yet; gives all of it when it may. */
  #decide(): string {
    const body = this.#body.read();
    const begin = body.trim();
    if (begin.startsWith('"')) {
      this.#passes = 'withheld';
      return '';
    }
    // The length keeps a flood of blanks from being looked at again and again.
    if ('null'.startsWith(begin) && body.length < 64) return '';
    this.#passes = 'yes';
    return body;
  }

  /** Tells that the call began, once its name is certain, and what text waited for that. */
  release(events: ChatEvent[]): void {
    if (this.released || (this.name === '' && this.carrier !== 'unreadable')) return;
    this.released = true;
    const custom = this.custom && { custom: true as const };
    events.push({ type: 'call-start', call: this.call, name: this.name, nativeId: this.id, ...custom });
    if (this.unsent !== '') events.push({ type: 'call-delta', call: this.call, text: this.unsent });
    this.unsent = '';
  }

  /** What the text comes to, now that there is no more of it. */
  read(how: Ending): ArgumentReading {
    if (this.oversized) return { state: 'invalid', arguments: null };
    if (this.#given !== null && this.carrier === null) return { state: 'ok', arguments: this.#given };
    if (!this.custom) return readCarried(readArguments(this.#text(), how), this.carrier, how);
    return how.ended && !how.length ? { state: 'ok', arguments: { input: this.#raw() } } : { state: 'truncated', arguments: null };
  }

  end(reading: ArgumentReading, events: ChatEvent[]): void {
    const raw = this.#raw();
    this.ended = true;
    if (!this.released) {
      // Nothing of a call but an id or an index is no call; one with arguments and no name is, and its result will say so.
      if (raw === '') return;
      events.push({ type: 'call-start', call: this.call, name: '', nativeId: this.id });
      if (this.unsent !== '') events.push({ type: 'call-delta', call: this.call, text: this.unsent });
    }
    const rest = this.#restOf(reading);
    if (rest !== '') events.push({ type: 'call-delta', call: this.call, text: rest });
    events.push({ type: 'call-end', call: this.call, raw, state: reading.state, arguments: reading.arguments });
  }

  /** What the deltas still lack of what the arguments were read as. */
  #restOf(reading: ArgumentReading): string {
    if (this.#passes === 'withheld') return reading.arguments === null ? '' : JSON.stringify(reading.arguments);
    return reading.state === 'closed' ? reading.closers : '';
  }

  /** Everything that came, in order. */
  #raw(): string {
    return this.#body.read() + this.#surplus.read();
  }

  /** What counts as the arguments: a repetition of the whole object after it is dropped. */
  #text(): string {
    const body = this.#body.read();
    const surplus = this.#surplus.read().trim();
    return surplus === '' || surplus === body.trim() ? body : this.#raw();
  }
}

/** What stood around the arguments may take from them, never add. */
function readCarried(reading: ArgumentReading, carrier: CarrierFault | null, how: Ending): ArgumentReading {
  if (carrier === 'unreadable')
    return { state: reading.state === 'truncated' || reading.state === 'closed' ? 'truncated' : 'invalid', arguments: null };
  if (carrier === null || reading.arguments === null) return reading;
  if (!how.ended || how.length) return { state: 'truncated', arguments: null };
  if (carrier === 'mended') return { state: 'repaired', arguments: reading.arguments };
  return reading.state === 'ok' ? { state: 'closed', arguments: reading.arguments, closers: '' } : reading;
}
