/**
 * One call while its pieces arrive: its name, its argument text, the part that can be passed on, and its final state.
 * `tool-call-assembler.ts`, its only user, decides which pieces belong to it.
 */
import type { ChatEvent } from './chat-event.ts';
import { GrowingText } from './growing-text.ts';
import { type ArgumentReading, readArguments } from '../json/json-repair.ts';
import { limits } from '../limits/limits.ts';
import { isRecord } from '../json/wire-value.ts';
import { utf8Length } from '../text/utf8.ts';

/** What one wire event says about a call. Any field may be missing, empty or null, since all of this occurs on real wires. */
export type CallPiece = {
  id?: string | null;
  index?: number | null;
  name?: string | null;
  /** A string is a piece of JSON; an object is complete. */
  arguments?: string | object | null;
  /** The argument is free text, not JSON. */
  custom?: boolean;
  /** For a call parsed from a model's text: what was wrong with the text around the arguments. */
  carrier?: CarrierFault;
};

/**
 * `closed`: only closing brackets were missing. `mended`: it was not strict JSON, so the arguments count as repaired even if they
 * parse. `unreadable`: it contains no call, and the argument text is all of it.
 */
export type CarrierFault = 'closed' | 'mended' | 'unreadable';

/** `ended`: the wire reported the end of the reply; `length`: the reply stopped at a limit. */
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
  /** The argument text; it is read as a whole only at the end. */
  readonly #body = new GrowingText();
  /** The length of all argument text, including the text that was dropped. */
  #bytes = 0;
  /** Text after the end of the object; never passed on. */
  readonly #surplus = new GrowingText();
  /**
   * `null` stands for no arguments, and a text that begins with a quote is an object encoded twice: neither can be passed on
   * unchanged. The first few bytes wait until this is decided.
   */
  #passes: 'undecided' | 'yes' | 'withheld' = 'undecided';
  readonly #braces = new BraceCounter();
  /** The complete arguments, if they came as an object with nothing after it: they need no parsing. */
  #given: Record<string, unknown> | null = null;

  constructor(call: number) {
    this.call = call;
  }

  get isWhole(): boolean {
    return this.#braces.isWhole;
  }

  /** Whether it has all of an object with members; an empty one may be a placeholder that is replaced later. */
  get isFilled(): boolean {
    return this.isWhole && !this.custom && this.carrier === null && /[^\s{}]/.test(this.#body.read().slice(0, 64));
  }

  /** Whether an unknown id belongs to this call, which had none, and does not start another one. */
  takesId(piece: CallPiece): boolean {
    if (this.id === null) return !(piece.name && this.name !== '' && piece.index == null);
    // Some servers send a new id with every delta: without a name, in the middle of the arguments, it has no meaning.
    return piece.index != null && !piece.name && this.#body.length > 0 && !this.isWhole;
  }

  /** Whether a piece that was routed here starts another call after all. */
  isAnother(piece: CallPiece, text: string): boolean {
    if (!piece.name || !this.isWhole || this.custom) return false;
    if (piece.name !== this.name) return true;
    return text.trimStart().startsWith('{') && !this.repeats(text);
  }

  repeats(text: string): boolean {
    return this.isWhole && this.#body.length === text.length && this.#body.read() === text;
  }

  /** Whether the piece repeats the complete arguments, as some servers do in their last piece. */
  isRepetition(text: string, piece: CallPiece): boolean {
    return piece.name !== '' && piece.name != null && this.repeats(text);
  }

  /** The first name counts. Before any argument text it may still grow: a longer form replaces it, another piece is appended. */
  takeName(name: string): void {
    if (this.name === '') this.name = name;
    else if (!this.released && this.#body.length === 0 && name !== this.name)
      this.name = name.startsWith(this.name) ? name : this.name + name;
    if (this.name.length > limits.maxToolNameLength) this.name = this.name.slice(0, limits.maxToolNameLength);
  }

  /**
   * Stores the text and returns the part that can be passed on now. `source`: the original value, if the text was made from an
   * object.
   */
  takeText(text: string, source: CallPiece['arguments']): string {
    const isFirst = this.#bytes === 0;
    this.#given = null;
    this.#bytes += utf8Length(text);
    if (this.#bytes > limits.maxArgumentBytes) {
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

  /** Nothing has been passed on yet; returns the whole body once that is allowed. */
  #decide(): string {
    const body = this.#body.read();
    const begin = body.trim();
    if (begin.startsWith('"')) {
      this.#passes = 'withheld';
      return '';
    }
    // The length bound avoids checking a flood of spaces again and again.
    if ('null'.startsWith(begin) && body.length < 64) return '';
    this.#passes = 'yes';
    return body;
  }

  /** Emits the start of the call once its name is certain, and the text that waited for it. */
  release(events: ChatEvent[]): void {
    if (this.released || (this.name === '' && this.carrier !== 'unreadable')) return;
    this.released = true;
    const custom = this.custom && { custom: true as const };
    events.push({ type: 'call-start', call: this.call, name: this.name, nativeId: this.id, ...custom });
    if (this.unsent !== '') events.push({ type: 'call-delta', call: this.call, text: this.unsent });
    this.unsent = '';
  }

  /** Returns the final state of the arguments, once the text is complete. */
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
      // An id or index alone is not a call. Arguments without a name are one, and its result will report the missing name.
      if (raw === '') return;
      events.push({ type: 'call-start', call: this.call, name: '', nativeId: this.id });
      if (this.unsent !== '') events.push({ type: 'call-delta', call: this.call, text: this.unsent });
    }
    const rest = this.#restOf(reading);
    if (rest !== '') events.push({ type: 'call-delta', call: this.call, text: rest });
    events.push({ type: 'call-end', call: this.call, raw, state: reading.state, arguments: reading.arguments });
  }

  /** Returns the part of the parsed arguments that the deltas have not contained. */
  #restOf(reading: ArgumentReading): string {
    if (this.#passes === 'withheld') return reading.arguments === null ? '' : JSON.stringify(reading.arguments);
    return reading.state === 'closed' ? reading.closers : '';
  }

  /** Everything that arrived, in order. */
  #raw(): string {
    return this.#body.read() + this.#surplus.read();
  }

  /** The text of the arguments: a repetition of the whole object after it is dropped. */
  #text(): string {
    const body = this.#body.read();
    const surplus = this.#surplus.read().trim();
    return surplus === '' || surplus === body.trim() ? body : this.#raw();
  }
}

/** The text around the arguments can only lower the state of the arguments, never improve it. */
function readCarried(reading: ArgumentReading, carrier: CarrierFault | null, how: Ending): ArgumentReading {
  if (carrier === 'unreadable')
    return { state: reading.state === 'truncated' || reading.state === 'closed' ? 'truncated' : 'invalid', arguments: null };
  if (carrier === null || reading.arguments === null) return reading;
  if (!how.ended || how.length) return { state: 'truncated', arguments: null };
  if (carrier === 'mended') return { state: 'repaired', arguments: reading.arguments };
  return reading.state === 'ok' ? { state: 'closed', arguments: reading.arguments, closers: '' } : reading;
}

/**
 * Follows the nesting of a JSON object piece by piece, to know when it is complete. Counts brackets and strings, and does not validate JSON:
 * the complete text is parsed elsewhere.
 */
class BraceCounter {
  isWhole = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Only a bracket that is the first thing in the text opens the object; after anything else nothing is counted. */
  #state: 'before' | 'inside' | 'uncounted' = 'before';

  /** Returns how much of `text` still belongs to the object. */
  count(text: string): number {
    if (this.isWhole) return 0;
    let at = 0;
    if (this.#state === 'before') {
      at = text.length - text.trimStart().length;
      if (at === text.length) return at;
      this.#state = text[at] === '{' || text[at] === '[' ? 'inside' : 'uncounted';
    }
    if (this.#state === 'uncounted') return text.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === 0x5c) escaped = true;
        else if (code === 0x22) inString = false;
      } else if (code === 0x22) {
        inString = true;
      } else if (code === 0x7b || code === 0x5b) {
        depth++;
      } else if ((code === 0x7d || code === 0x5d) && --depth === 0) {
        this.isWhole = true;
        return at + 1;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    return at;
  }
}
