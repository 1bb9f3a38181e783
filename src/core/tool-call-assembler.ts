/**
 * Puts tool calls together from the pieces in which providers send them, the same way for all of them (DESIGN §6). Adapters
 * push what an event carries and pass the events on; argument text is parsed once, by `finish`. Linear in the bytes pushed.
 */
import type { ChatEvent } from './chat-event.ts';
import { GrowingText } from './growing-text.ts';
import { type ArgumentReading, readArguments } from './json-repair.ts';
import { limits } from './limits.ts';

/** What one wire event says about a call. Everything may be missing, empty or null: real wires do all of it. */
export type CallPiece = {
  id?: string | null;
  index?: number | null;
  name?: string | null;
  /** A text is a piece of JSON; an object is whole. */
  arguments?: string | object | null;
  /** The argument is free text, not JSON. */
  custom?: boolean;
  /** Of a call that was read out of a model's words: what was wrong with the text around the arguments. */
  carrier?: CarrierFault;
};

/**
 * `closed`: it lacked only closers. `mended`: it was no strict JSON, so that the arguments count as repaired however they read.
 * `unreadable`: there is no call in it, and the argument text is all of it.
 */
export type CarrierFault = 'closed' | 'mended' | 'unreadable';

/**
 * Pieces find their call by id, else by index, else they belong to the latest call. A new id at an index in use, and a new
 * name once the arguments are whole, begin a new call. A name is certain with the first argument text after it, with the
 * next call or at the end; deltas then pass at once.
 */
export class ToolCallAssembler {
  /** The call that the last piece went to; -1 before the first. */
  latest = -1;
  /** More calls were begun than a reply may hold; the ones too many are dropped, so the reply must end as an error. */
  overflowed = false;
  readonly #calls: OpenCall[] = [];
  readonly #byId = new Map<string, OpenCall>();
  readonly #byIndex = new Map<number, OpenCall>();
  #finished = false;

  get count(): number {
    return this.#calls.length;
  }

  push(piece: CallPiece): ChatEvent[] {
    const events: ChatEvent[] = [];
    const text = argumentText(piece.arguments);
    if (this.#finished || (!piece.id && !piece.name && text === '' && piece.carrier === undefined)) return events;
    const call = this.#route(piece, text);
    if (call === undefined || call.ended) return events;
    if (call.call !== this.latest) {
      // Another call's turn: what is known of the one before is all of its name.
      const previous = this.#calls[this.latest];
      if (previous !== undefined) release(previous, events);
      this.latest = call.call;
    }
    if (piece.custom) call.custom = true;
    if (piece.carrier !== undefined && call.carrier !== 'unreadable') call.carrier = piece.carrier;
    if (piece.name) call.takeName(piece.name);
    if (text !== '' && !call.isRepetition(text, piece)) {
      const ready = call.takeText(text, piece.arguments);
      if (call.name !== '' || call.carrier === 'unreadable') release(call, events);
      if (ready !== '' && call.released) events.push({ type: 'call-delta', call: call.call, text: ready });
      else call.unsent += ready;
    }
    return events;
  }

  /**
   * Ends one call where the wire says that it is whole, before its reply is over: by id, else by index, else the latest. What
   * cannot be used as it stands waits for `finish`, since how the reply ends decides what may be mended. Later pieces of it are
   * ignored.
   */
  end({ id, index }: Pick<CallPiece, 'id' | 'index'>): ChatEvent[] {
    const events: ChatEvent[] = [];
    const found = (id ? this.#byId.get(id) : undefined) ?? (index == null ? undefined : this.#byIndex.get(index));
    const call = found ?? (id || index != null ? undefined : this.#calls[this.latest]);
    if (call === undefined || call.ended || call.oversized || call.name === '' || this.#finished) return events;
    const reading = read(call, { ended: true, length: false });
    if (reading.state !== 'ok') return events;
    release(call, events);
    end(call, reading, events);
    return events;
  }

  /**
   * Ends every call. `ended`: the wire said that the reply is over (finish reason, end mark); `length`: it stopped at a
   * token limit. Further pieces, and a second end, are ignored.
   */
  finish(how: { ended: boolean; length: boolean }): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (this.#finished) return events;
    this.#finished = true;
    for (const call of this.#calls) {
      if (call.ended) continue;
      release(call, events);
      end(call, read(call, how), events);
    }
    return events;
  }

  #route(piece: CallPiece, text: string): OpenCall | undefined {
    const id = piece.id || null;
    const index = piece.index ?? null;
    const atIndex = index === null ? undefined : this.#byIndex.get(index);
    const withId = id === null ? undefined : this.#byId.get(id);
    const latest = this.#calls[this.latest];
    let call: OpenCall | undefined;
    if (withId !== undefined) {
      // Servers that give every call one id still number them.
      const elsewhere = index !== null && withId.index !== null && withId.index !== index;
      if (elsewhere && atIndex !== undefined && atIndex.id === id) call = atIndex;
      else if (!elsewhere || !piece.name) call = withId;
    } else if (id !== null) {
      const unnamed = atIndex ?? (index === null ? latest : undefined);
      if (unnamed?.takesId(piece)) call = unnamed;
    } else if (index !== null) {
      call = atIndex ?? (latest !== undefined && latest.index === null && !piece.name ? latest : undefined);
    } else if (latest !== undefined && (!piece.name || latest.name === '' || (latest.name === piece.name && !latest.isWhole))) {
      call = latest;
    } else if (latest !== undefined && latest.name === piece.name && latest.repeats(text)) {
      call = latest;
    }
    if (call?.isAnother(piece, text)) call = undefined;
    call ??= this.#open();
    if (call === undefined) return undefined;
    if (id !== null && call.id === null) call.id = id;
    if (id !== null) this.#byId.set(id, call);
    if (index !== null) {
      call.index ??= index;
      this.#byIndex.set(index, call);
    }
    return call;
  }

  #open(): OpenCall | undefined {
    if (this.#calls.length >= limits.maxCallsPerReply) {
      this.overflowed = true;
      return undefined;
    }
    const call = new OpenCall(this.#calls.length);
    this.#calls.push(call);
    return call;
  }
}

function argumentText(value: CallPiece['arguments']): string {
  if (typeof value === 'string') return value;
  return value == null ? '' : JSON.stringify(value);
}

function release(call: OpenCall, events: ChatEvent[]): void {
  if (call.released || (call.name === '' && call.carrier !== 'unreadable')) return;
  call.released = true;
  events.push({ type: 'call-start', call: call.call, name: call.name, nativeId: call.id, ...(call.custom && { custom: true as const }) });
  if (call.unsent !== '') events.push({ type: 'call-delta', call: call.call, text: call.unsent });
  call.unsent = '';
}

/** What a call's text comes to, now that there is no more of it. */
function read(call: OpenCall, how: { ended: boolean; length: boolean }): ArgumentReading {
  if (call.oversized) return { state: 'invalid', arguments: null };
  if (call.given !== null && call.carrier === null) return { state: 'ok', arguments: call.given };
  if (!call.custom) return readCarried(readArguments(call.text(), how), call.carrier, how);
  return how.ended && !how.length ? { state: 'ok', arguments: { input: call.raw() } } : { state: 'truncated', arguments: null };
}

/** What stood around the arguments may take from them, never add. */
function readCarried(reading: ArgumentReading, carrier: CarrierFault | null, how: { ended: boolean; length: boolean }): ArgumentReading {
  if (carrier === 'unreadable')
    return { state: reading.state === 'truncated' || reading.state === 'closed' ? 'truncated' : 'invalid', arguments: null };
  if (carrier === null || reading.arguments === null) return reading;
  if (!how.ended || how.length) return { state: 'truncated', arguments: null };
  if (carrier === 'mended') return { state: 'repaired', arguments: reading.arguments };
  return reading.state === 'ok' ? { state: 'closed', arguments: reading.arguments, closers: '' } : reading;
}

function end(call: OpenCall, reading: ArgumentReading, events: ChatEvent[]): void {
  const raw = call.raw();
  call.ended = true;
  if (!call.released) {
    // Nothing of a call but an id or an index is no call; one with arguments and no name is, and its result will say so.
    if (raw === '') return;
    events.push({ type: 'call-start', call: call.call, name: '', nativeId: call.id });
    if (call.unsent !== '') events.push({ type: 'call-delta', call: call.call, text: call.unsent });
  }
  if (reading.state === 'closed' && reading.closers !== '' && !call.isWithheld)
    events.push({ type: 'call-delta', call: call.call, text: reading.closers });
  if (call.isWithheld && reading.arguments !== null) {
    events.push({ type: 'call-delta', call: call.call, text: JSON.stringify(reading.arguments) });
  }
  events.push({ type: 'call-end', call: call.call, raw, state: reading.state, arguments: reading.arguments });
}

/** One call while its pieces come in. */
class OpenCall {
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
  given: Record<string, unknown> | null = null;

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
    this.given = null;
    if (this.#body.length + this.#surplus.length + text.length > limits.maxArgumentBytes) {
      this.oversized = true;
      return '';
    }
    if (this.custom) {
      this.#body.append(text);
      return text;
    }
    if (isFirst && isRecord(source)) {
      this.given = source;
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

  get isWithheld(): boolean {
    return this.#passes === 'withheld';
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

  /** Everything that came, in order. */
  raw(): string {
    return this.#body.read() + this.#surplus.read();
  }

  /** What counts as the arguments: a repetition of the whole object after it is dropped. */
  text(): string {
    const body = this.#body.read();
    const surplus = this.#surplus.read().trim();
    return surplus === '' || surplus === body.trim() ? body : this.raw();
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Follows the nesting of a JSON object piece by piece, to know when it is whole. */
class BraceCounter {
  isWhole = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Only a bracket that is the first thing in the text opens the object; after anything else nothing is counted. */
  #state: 'before' | 'inside' | 'uncounted' = 'before';

  /** Reads on; answers how much of `text` still belongs to the object. */
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
