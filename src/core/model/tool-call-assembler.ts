/**
 * Assembles tool calls from the pieces that providers send, in the same way for all providers (contract §6). Adapters push the content
 * of an event (`CallPiece`) and pass the resulting events on. This file decides which call a piece belongs to; `open-call.ts` is
 * one growing call. Argument text is parsed once, when it is complete. Linear in the bytes pushed.
 */
import { OpenCall, type CallPiece } from './open-call.ts';
import type { ChatEvent } from './chat-event.ts';
import { limits } from '../limits/limits.ts';

/** A provider's own id of a call; the longest known ones have some hundred characters. A longer id is cut and not sent back. */
export const maxNativeCallIdLength = 1_024;

/**
 * A piece belongs to the call with its id, else with its index, else to the latest call. A new id at an index in use, or a new name
 * once the arguments are complete, starts a new call. A name is certain with the first argument text after it, with the next call, or
 * at the end; from then on deltas pass immediately.
 */
export class ToolCallAssembler {
  /** The call that received the last piece; -1 before the first. */
  latest = -1;
  /** The reply started more calls than allowed; the excess ones are dropped, and the reply must end with an error. */
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
      // A piece of another call: the name of the previous one is now complete, and so is its object of arguments.
      const previous = this.#calls[this.latest];
      if (previous !== undefined) previous.release(events);
      if (previous?.isFilled === true) this.#endWhole(previous, events);
      this.latest = call.call;
    }
    if (piece.custom) call.custom = true;
    if (piece.carrier !== undefined && call.carrier !== 'unreadable') call.carrier = piece.carrier;
    if (piece.name) call.takeName(piece.name);
    if (text !== '' && !call.isRepetition(text, piece)) {
      const ready = call.takeText(text, piece.arguments);
      if (call.name !== '' || call.carrier === 'unreadable') call.release(events);
      if (ready !== '' && call.released) events.push({ type: 'call-delta', call: call.call, text: ready });
      else call.unsent += ready;
    }
    return events;
  }

  /**
   * Ends one call when the wire says that it is complete, before the end of the reply: by id, else by index, else the latest.
   * Arguments that do not parse wait for `finish`, since the way the reply ends decides what may be repaired. Later pieces of the
   * call are ignored.
   */
  end({ id, index }: Pick<CallPiece, 'id' | 'index'>): ChatEvent[] {
    const events: ChatEvent[] = [];
    const found = (id ? this.#byId.get(id) : undefined) ?? (index == null ? undefined : this.#byIndex.get(index));
    const call = found ?? (id || index != null ? undefined : this.#calls[this.latest]);
    if (call === undefined || call.ended || call.oversized || call.name === '' || this.#finished) return events;
    this.#endWhole(call, events);
    return events;
  }

  #endWhole(call: OpenCall, events: ChatEvent[]): void {
    if (call.ended || call.oversized || call.name === '') return;
    const reading = call.read({ ended: true, length: false });
    if (reading.state !== 'ok') return;
    call.release(events);
    call.end(reading, events);
  }

  /**
   * Ends every call. `ended`: the wire reported the end of the reply (finish reason, end marker); `length`: it stopped at a token
   * limit. Further pieces, and a second end, are ignored.
   */
  finish(how: { ended: boolean; length: boolean }): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (this.#finished) return events;
    this.#finished = true;
    for (const call of this.#calls) {
      if (call.ended) continue;
      call.release(events);
      call.end(call.read(how), events);
    }
    return events;
  }

  #route(piece: CallPiece, text: string): OpenCall | undefined {
    const id = piece.id?.slice(0, maxNativeCallIdLength) || null;
    const index = piece.index ?? null;
    const atIndex = index === null ? undefined : this.#byIndex.get(index);
    const withId = id === null ? undefined : this.#byId.get(id);
    const latest = this.#calls[this.latest];
    let call: OpenCall | undefined;
    if (withId !== undefined) {
      // Servers that give every call the same id still number the calls.
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
