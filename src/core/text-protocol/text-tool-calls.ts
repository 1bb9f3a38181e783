/**
 * Parses tool calls from a model's text as it arrives (contract §6, `text` protocol): calls become the same events as native calls,
 * markup is removed, and everything else stays text. Only text that may be the start of a tag, or that is not yet certain to be a
 * call, is held back. The same text gives the same events however it is chunked, in linear time. `text-call-tags.ts` defines the
 * tags, `text-call-block.ts` parses the text between them, and `text-tool-prompt.ts` describes tools to the model.
 * A call is: `<tool_call>` and similar tags anywhere but in code and reasoning; `{"name": …, "arguments": …}` at the start of a line,
 * or in an ambiguous tag, if it names a tool; a fence that contains only a call, if it is the whole reply. A block that cannot be
 * parsed is still a call (state `invalid` or `truncated`), so that the model gets an error.
 */
import type { ChatEvent } from '../model/chat-event.ts';
import { CallBlock } from './text-call-block.ts';
import { bareOpening, type CallOpening, type CallTag, TagReader, UntilTag } from './text-call-tags.ts';
import { isMargin } from './text-code.ts';
import { CodeReader, endsInMargin } from './text-code-reader.ts';
import { VisibleOutput } from './visible-output.ts';
import { ToolCallAssembler } from '../model/tool-call-assembler.ts';

/** The construct being read. */
type Place =
  | { kind: 'words' }
  /** `within`: the block that contains it. */
  | { kind: 'tag'; tag: TagReader; atLineStart: boolean; within: BlockPlace | null }
  | BlockPlace
  | { kind: 'code' }
  | { kind: 'thoughts' | 'response'; until: UntilTag };

/** `tag`: the original text of the tag. */
type BlockPlace = { kind: 'block'; block: CallBlock; tag: string };
type PlaceOf<Kind extends Place['kind']> = Extract<Place, { kind: Kind }>;

const words: Place = { kind: 'words' };
const code: Place = { kind: 'code' };

export class TextToolCalls {
  readonly #isTool: (name: string) => boolean;
  readonly #assembler = new ToolCallAssembler();
  readonly #spoken = new VisibleOutput();
  readonly #code: CodeReader;
  #place: Place = words;
  /** Only white space precedes this in its line. */
  #atLineStart = true;
  #hadEmptyBlock = false;
  /** A closing tag that may still follow, of a block that ended without it. */
  #owed: string | null = null;

  /** `isInFence`: the text is the content of a fence, where a nested fence is not a call. */
  constructor({ isTool, isInFence = false }: { isTool(name: string): boolean; isInFence?: boolean }) {
    this.#isTool = isTool;
    this.#code = new CodeReader({
      spoken: this.#spoken,
      mayBeCall: () => !isInFence && !this.#spoken.hasSpoken && this.#assembler.count === 0,
      holdsCalls: (body) => holdsCallsOnly(body, isTool),
    });
  }

  /** The reply started more calls than allowed and must end with an error. */
  get overflowed(): boolean {
    return this.#assembler.overflowed;
  }

  push(text: string): ChatEvent[] {
    this.#read(text);
    return this.#spoken.taken();
  }

  /**
   * Ends the text and every call in it; `ended` and `length` as in `ToolCallAssembler.finish`. `hasOtherCalls`: the reply also had
   * native calls; without any, a reply that consists of an empty block is a malformed call.
   */
  finish({ hasOtherCalls = false, ...how }: { ended: boolean; length: boolean; hasOtherCalls?: boolean }): ChatEvent[] {
    const spoken = this.#spoken;
    while (!this.#settle());
    if (this.#hadEmptyBlock && !spoken.hasSpoken && !hasOtherCalls && this.#assembler.count === 0)
      spoken.events.push(...this.#assembler.push({ index: 0, arguments: '<tool_call></tool_call>', carrier: 'unreadable' }));
    spoken.finish();
    spoken.events.push(...this.#assembler.finish(how));
    return spoken.taken();
  }

  #read(text: string): void {
    let at = 0;
    while (at < text.length) at = this.#advance(this.#place, text, at);
  }

  /** Reads in the current place and returns the offset reached: the end of the text, or the start of another place. */
  #advance(place: Place, text: string, at: number): number {
    switch (place.kind) {
      case 'words':
        return this.#inWords(text, at);
      case 'tag':
        return this.#inTag(place, text, at);
      case 'block':
        return this.#inBlock(place, text, at);
      case 'code':
        return this.#inCode(text, at);
      case 'thoughts':
      case 'response':
        return this.#inUntil(place, text, at);
      default:
        return place satisfies never;
    }
  }

  /** At the end of the text: resolves one open item at a time. Returns true when nothing is open. */
  #settle(): boolean {
    const place = this.#place;
    switch (place.kind) {
      case 'tag':
        this.#noTag(place);
        return false;
      case 'block':
        place.block.end('over', this.#spoken.events);
        this.#leaveBlock(place);
        return false;
      case 'code':
        this.#code.end();
        this.#leaveCode();
        return false;
      case 'thoughts':
        this.#spoken.think(place.until.rest());
        return true;
      default:
        return true;
    }
  }

  // ---- Text and tags ----

  #inWords(text: string, from: number): number {
    let at = from;
    let char = '';
    for (; at < text.length; at++) {
      char = text.charAt(at);
      if (char === '<' || (char === '{' && this.#atLineStart) || this.#code.mayBegin(char, this.#atLineStart)) break;
      if (char === '\n') this.#endLine();
      else if (this.#atLineStart && !isMargin(char)) this.#atLineStart = false;
    }
    this.#spoken.say(text.slice(from, at));
    if (at === text.length) return at;
    const atLineStart = this.#atLineStart;
    this.#atLineStart = false;
    if (char === '<') this.#place = { kind: 'tag', tag: new TagReader(), atLineStart, within: null };
    else if (char === '{') this.#beginBlock(bareOpening, '');
    else this.#beginCode(char, atLineStart);
    return at;
  }

  #endLine(): void {
    this.#code.endLine(this.#atLineStart);
    this.#atLineStart = true;
  }

  #inTag(place: PlaceOf<'tag'>, text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const taken = place.tag.take(text.charAt(at));
      if (taken === 'more') continue;
      if (taken === 'no') {
        this.#noTag(place);
        return at;
      }
      if (place.within === null) this.#onTag(taken, place.tag.text, place.atLineStart);
      else this.#onTagInBlock(taken, place.tag.text, place.within);
      return at + 1;
    }
    return text.length;
  }

  #noTag({ tag, within }: PlaceOf<'tag'>): void {
    this.#place = within ?? words;
    if (within === null) this.#spoken.say(tag.text);
    else this.#giveWords(within, tag.text);
  }

  #onTag(found: CallTag, text: string, atLineStart: boolean): void {
    this.#place = words;
    if (found.kind === 'open') {
      this.#beginBlock(found, text);
    } else if (found.kind === 'thought' || found.kind === 'frame' || (found.kind === 'close' && this.#owed === text.toLowerCase())) {
      if (found.kind === 'close') this.#owed = null;
      this.#skipMarkup();
    } else if (found.kind === 'close' || !atLineStart) {
      this.#spoken.say(text);
    } else {
      this.#place = { kind: found.kind === 'think' ? 'thoughts' : 'response', until: new UntilTag(found.close) };
    }
  }

  /** The following text counts as the start of a line. */
  #skipMarkup(): void {
    this.#atLineStart = true;
    this.#spoken.skip();
  }

  /** Reasoning contains no calls; a result that the model invented is removed. */
  #inUntil({ kind, until }: PlaceOf<'thoughts' | 'response'>, text: string, from: number): number {
    const { at, words: passed } = until.take(text, from);
    if (kind === 'thoughts') this.#spoken.think(passed);
    if (until.ended) {
      this.#place = words;
      this.#skipMarkup();
    }
    return at;
  }

  // ---- Blocks ----

  #beginBlock(opening: CallOpening, tag: string): void {
    const block = new CallBlock(opening, { assembler: this.#assembler, isTool: this.#isTool });
    this.#place = { kind: 'block', block, tag };
  }

  #inBlock(place: BlockPlace, text: string, from: number): number {
    const at = place.block.take(text, from, this.#spoken.events);
    if (place.block.verdict !== 'open') this.#leaveBlock(place);
    else if (at < text.length) this.#place = { kind: 'tag', tag: new TagReader(), atLineStart: false, within: place };
    return at;
  }

  /** Not a tag, or not one that ends the block. */
  #giveWords(place: BlockPlace, text: string): void {
    place.block.takeWords(text, this.#spoken.events);
    if (place.block.verdict !== 'open') this.#leaveBlock(place);
  }

  #onTagInBlock(found: CallTag, text: string, within: BlockPlace): void {
    const opens = found.kind === 'open' && found.certain;
    this.#place = within;
    if (!opens && found.kind !== 'close') {
      this.#giveWords(within, text);
      return;
    }
    within.block.end(opens ? 'open' : 'close', this.#spoken.events);
    this.#leaveBlock(within, !opens);
    // If the preceding text turned out to be code, the tag is code too.
    if (opens && this.#isAmongWords()) this.#beginBlock(found, text);
    else if (opens || within.block.verdict !== 'ended') this.#read(text);
  }

  #isAmongWords(): boolean {
    return this.#place.kind === 'words';
  }

  /** The block has its verdict. Text that does not belong to it is emitted, and searched for calls unless that was already done. */
  #leaveBlock({ block, tag }: BlockPlace, isClosed = false): void {
    this.#place = words;
    if (block.verdict === 'no-call: object') {
      this.#spoken.say(tag + block.back);
      this.#atLineStart = endsInMargin(block.back);
      return;
    }
    if (block.verdict === 'ended') {
      this.#skipMarkup();
      this.#hadEmptyBlock ||= block.isEmpty;
      if (!isClosed) this.#owed = block.opening.close ?? '</tool_call>';
    } else {
      this.#spoken.say(tag);
    }
    this.#read(block.back);
  }

  // ---- Code ----

  #beginCode(char: string, atLineStart: boolean): void {
    this.#code.begin(char, atLineStart);
    this.#place = code;
  }

  #inCode(text: string, from: number): number {
    const at = this.#code.take(text, from);
    if (!this.#code.isOpen) this.#leaveCode();
    return at;
  }

  #leaveCode(): void {
    const { again, endsAtLineStart } = this.#code;
    this.#place = words;
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
