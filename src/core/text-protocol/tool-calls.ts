/**
 * Parses tool calls from a model's text as it arrives (contract §6, `text` protocol): calls become the same events as native calls,
 * markup is removed, and everything else stays text. Only text that may be the start of a tag, or that is not yet certain to be a
 * call, is held back. The same text gives the same events however it is chunked, in linear time. `call-tags.ts` defines the tags,
 * `call-block.ts` parses the text between them, and `tool-prompt.ts` describes tools to the model.
 * A call is: `<tool_call>` and similar tags anywhere but in code and reasoning; `{"name": …, "arguments": …}` at the start of a line,
 * or in an ambiguous tag, if it names a tool; a fence that contains only a call, if it is the whole reply. A block that cannot be
 * parsed is still a call (state `invalid` or `truncated`), so that the model gets an error.
 */
import type { ChatEvent } from '../model/chat-event.ts';
import { CallBlock } from './call-block.ts';
import { bareOpening, type CallOpening, type CallTag, matchClose, matchTag, maxTagLength } from './call-tags.ts';
import { endsInMargin, isMargin } from './code.ts';
import { CodeReader } from './code-reader.ts';
import { VisibleOutput } from './visible-output.ts';
import { ToolCallAssembler } from '../model/tool-call-assembler.ts';

/** The construct being read. */
type Place = { kind: 'prose' } | BlockPlace | { kind: 'code' } | { kind: 'reasoning' | 'response'; close: string };

/** `tag`: the original text of the tag. */
type BlockPlace = { kind: 'block'; block: CallBlock; tag: string };
type PlaceOf<Kind extends Place['kind']> = Extract<Place, { kind: Kind }>;

const prose: Place = { kind: 'prose' };
const code: Place = { kind: 'code' };

export class TextToolCalls {
  readonly #isTool: (name: string) => boolean;
  readonly #assembler = new ToolCallAssembler();
  readonly #output = new VisibleOutput();
  readonly #code: CodeReader;
  #place: Place = prose;
  /** The end of the text so far, if it may be the start of a tag. */
  #held = '';
  /** Only white space precedes this in its line. */
  #atLineStart = true;
  #hadEmptyBlock = false;
  /** A closing tag that may still follow, of a block that ended without it. */
  #expectedClose: string | null = null;

  /** `isInFence`: the text is the content of a fence, where a nested fence is not a call. */
  constructor({ isTool, isInFence = false }: { isTool(name: string): boolean; isInFence?: boolean }) {
    this.#isTool = isTool;
    this.#code = new CodeReader({
      output: this.#output,
      mayBeCall: () => !isInFence && !this.#output.hasText && this.#assembler.count === 0,
      holdsCalls: (body) => holdsCallsOnly(body, isTool),
    });
  }

  /** The reply started more calls than allowed and must end with an error. */
  get overflowed(): boolean {
    return this.#assembler.overflowed;
  }

  push(text: string): ChatEvent[] {
    this.#read(text);
    return this.#output.takeEvents();
  }

  /**
   * Ends the text and every call in it; `ended` and `length` as in `ToolCallAssembler.finish`. `hasOtherCalls`: the reply also had
   * native calls; without any, a reply that consists of an empty block is a malformed call.
   */
  finish({ hasOtherCalls = false, ...how }: { ended: boolean; length: boolean; hasOtherCalls?: boolean }): ChatEvent[] {
    const output = this.#output;
    while (this.#endPlace());
    if (this.#hadEmptyBlock && !output.hasText && !hasOtherCalls && this.#assembler.count === 0)
      output.emit(this.#assembler.push({ index: 0, arguments: '<tool_call></tool_call>', carrier: 'unreadable' }));
    output.finish();
    output.emit(this.#assembler.finish(how));
    return output.takeEvents();
  }

  #read(text: string): void {
    let at = 0;
    while (at < text.length) at = this.#held === '' ? this.#advance(this.#place, text, at) : this.#atTag(text, at);
  }

  /** Reads in the current place and returns the offset reached: the end of the text, or the start of another place. */
  #advance(place: Place, text: string, at: number): number {
    switch (place.kind) {
      case 'prose':
        return this.#inProse(text, at);
      case 'block':
        return this.#inBlock(place, text, at);
      case 'code':
        return this.#inCode(text, at);
      case 'reasoning':
      case 'response':
        return this.#inSkipped(place, text, at);
      default:
        return place satisfies never;
    }
  }

  /** At the end of the text: ends one open item at a time. Returns false when nothing is open. */
  #endPlace(): boolean {
    const place = this.#place;
    if (this.#held !== '') this.#releaseHeld();
    else if (place.kind === 'block') {
      place.block.end('over');
      this.#leaveBlock(place);
    } else if (place.kind === 'code') {
      this.#code.end();
      this.#leaveCode();
    } else return false;
    return true;
  }

  // ---- Text and tags ----

  #inProse(text: string, from: number): number {
    let at = from;
    let char = '';
    for (; at < text.length; at++) {
      char = text.charAt(at);
      if (char === '<' || (char === '{' && this.#atLineStart) || this.#code.mayBegin(char, this.#atLineStart)) break;
      if (char === '\n') {
        this.#code.endLine(this.#atLineStart);
        this.#atLineStart = true;
      } else if (this.#atLineStart && !isMargin(char)) {
        this.#atLineStart = false;
      }
    }
    this.#output.addText(text.slice(from, at));
    if (at === text.length) return at;
    if (char === '<') return this.#atTag(text, at);
    if (char === '{') {
      this.#beginBlock(bareOpening, '');
    } else {
      this.#code.begin(char, this.#atLineStart);
      this.#place = code;
    }
    this.#atLineStart = false;
    return at;
  }

  /** At a `<`, or in a tag whose start is held. Returns the offset after it. */
  #atTag(chunk: string, from: number): number {
    const held = this.#held;
    const text = held === '' ? chunk : held + chunk.slice(from, from + maxTagLength);
    const start = held === '' ? from : 0;
    const place = this.#place;
    const match = 'close' in place ? matchClose(place.close, text, start) : matchTag(text, start);
    if (match === 'partial') {
      this.#held = text.slice(start);
      return chunk.length;
    }
    if (match === null) {
      if (held === '') this.#addText('<');
      else this.#releaseHeld();
      return held === '' ? from + 1 : from;
    }
    this.#held = '';
    const tag = text.slice(start, start + match.length);
    if (place.kind === 'block') this.#onTagInBlock(match.tag, tag, place);
    else if (place.kind === 'prose') this.#onTag(match.tag, tag);
    else {
      this.#place = prose;
      this.#skipMarkup();
    }
    return from + match.length - held.length;
  }

  /** The held text is not a tag: its `<` is text, and the rest is read again. */
  #releaseHeld(): void {
    const rest = this.#held.slice(1);
    this.#held = '';
    this.#addText('<');
    this.#read(rest);
  }

  /** Text of the current place that is not a tag, or not one that counts there. Text of an invented result is dropped. */
  #addText(text: string): void {
    const place = this.#place;
    if (place.kind === 'block') {
      place.block.takeText(text);
      if (place.block.verdict !== 'open') this.#leaveBlock(place);
    } else if (place.kind === 'prose') {
      this.#atLineStart = false;
      this.#output.addText(text);
    } else if (place.kind === 'reasoning') {
      this.#output.addReasoning(text);
    }
  }

  #onTag(found: CallTag, text: string): void {
    const atLineStart = this.#atLineStart;
    this.#atLineStart = false;
    if (found.kind === 'open') {
      this.#beginBlock(found, text);
    } else if (found.kind === 'frame' || (found.kind === 'close' && this.#expectedClose === text.toLowerCase())) {
      if (found.kind === 'close') this.#expectedClose = null;
      this.#skipMarkup();
    } else if (found.kind === 'close' || !atLineStart) {
      this.#output.addText(text);
    } else {
      this.#place = found;
    }
  }

  /** The following text counts as the start of a line. */
  #skipMarkup(): void {
    this.#atLineStart = true;
    this.#output.skip();
  }

  /** Reasoning contains no calls; a result that the model invented is removed. */
  #inSkipped({ kind }: PlaceOf<'reasoning' | 'response'>, text: string, from: number): number {
    const angle = text.indexOf('<', from);
    if (kind === 'reasoning') this.#output.addReasoning(text.slice(from, angle < 0 ? text.length : angle));
    return angle < 0 ? text.length : this.#atTag(text, angle);
  }

  // ---- Blocks ----

  #beginBlock(opening: CallOpening, tag: string): void {
    const emit = (events: readonly ChatEvent[]): void => this.#output.emit(events);
    this.#place = { kind: 'block', block: new CallBlock(opening, { assembler: this.#assembler, isTool: this.#isTool, emit }), tag };
  }

  #inBlock(place: BlockPlace, text: string, from: number): number {
    const at = place.block.take(text, from);
    if (place.block.verdict !== 'open') this.#leaveBlock(place);
    else if (at < text.length) return this.#atTag(text, at);
    return at;
  }

  #onTagInBlock(found: CallTag, text: string, place: BlockPlace): void {
    const opens = found.kind === 'open' && found.certain;
    if (!opens && found.kind !== 'close') {
      this.#addText(text);
      return;
    }
    place.block.end(opens ? 'open' : 'close');
    this.#leaveBlock(place, !opens);
    // If the preceding text turned out to be code, the tag is code too.
    if (opens && this.#isInProse()) this.#beginBlock(found, text);
    else if (opens || place.block.verdict !== 'ended') this.#read(text);
  }

  #isInProse(): boolean {
    return this.#place.kind === 'prose' && this.#held === '';
  }

  /** The block has its verdict. Text that does not belong to it is emitted, and searched for calls unless that was already done. */
  #leaveBlock({ block, tag }: BlockPlace, isClosed = false): void {
    this.#place = prose;
    if (block.verdict === 'no-call: object') {
      this.#output.addText(tag + block.back);
      this.#atLineStart = endsInMargin(block.back);
      return;
    }
    if (block.verdict === 'ended') {
      this.#skipMarkup();
      this.#hadEmptyBlock ||= block.isEmpty;
      if (!isClosed) this.#expectedClose = block.opening.close ?? '</tool_call>';
    } else {
      this.#output.addText(tag);
    }
    this.#read(block.back);
  }

  // ---- Code ----

  #inCode(text: string, from: number): number {
    const at = this.#code.take(text, from);
    if (!this.#code.isOpen) this.#leaveCode();
    return at;
  }

  #leaveCode(): void {
    const { again, endsAtLineStart } = this.#code;
    this.#place = prose;
    this.#atLineStart = endsAtLineStart;
    this.#read(again);
  }
}

function holdsCallsOnly(text: string, isTool: (name: string) => boolean): boolean {
  const reader = new TextToolCalls({ isTool, isInFence: true });
  const events = [...reader.push(text), ...reader.finish({ ended: true, length: false })];
  return (
    events.some((event) => event.type === 'call-start') &&
    events.every((event) => {
      if (event.type === 'text') return event.text.trim() === '';
      if (event.type === 'call-start') return isTool(event.name);
      return event.type !== 'call-end' || event.arguments !== null;
    })
  );
}
