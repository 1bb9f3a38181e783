/**
 * Parses the text between the tags of a call incrementally, and passes the call to the assembler, name and arguments, as soon as both
 * certainly belong to a call. The reader of the surrounding text (`text-tool-calls.ts`), which knows the tags, decides where a block
 * begins and what happens with text that is not a call.
 */
import type { CallPiece } from '../model/open-call.ts';
import type { ChatEvent } from '../model/chat-event.ts';
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';
import { CallObject } from './text-call-object.ts';
import { rereadCalls } from './text-call-reread.ts';
import type { CallOpening } from './text-call-tags.ts';
import type { ToolCallAssembler } from '../model/tool-call-assembler.ts';

/** `isTool`: whether a tool has this name. Without a tag that proves a call, an object is a call only if it names a tool. */
export type BlockContext = { assembler: ToolCallAssembler; isTool(name: string): boolean };

/** Where a block ends: at a closing tag, at another opening tag, at other text, or with the text. */
export type BlockEnd = 'close' | 'open' | 'words' | 'over';

export class CallBlock {
  readonly opening: CallOpening;
  /** `object`: it only looked like a call. `words`: the text only mentioned the tag. */
  verdict: 'open' | 'ended' | 'no-call: object' | 'no-call: words' = 'open';
  /** Text that it consumed and that does not belong to it. After `no-call`, everything but the tag. */
  back = '';
  /** The block was empty. */
  isEmpty = false;
  readonly #context: BlockContext;
  #phase: 'lead' | 'fence' | 'object' | 'tail' | 'words' = 'lead';
  /** The text of the block, until the call is emitted. */
  #body = new GrowingText();
  #object = new CallObject('call');
  #isList = false;
  /** Offset of the object in the body. */
  #objectFrom = 0;
  /** The number of the call, once it is emitted. */
  #index = -1;
  /** The text after the object; whether it continues past that line, and whether it contains more than stray characters. */
  #tail = '';
  #isPastLine = false;
  #hasWords = false;
  /** The object is in a code fence inside the tags. */
  #isFenced = false;
  #lineIsBlank = false;

  constructor(opening: CallOpening, context: BlockContext) {
    this.opening = opening;
    this.#context = context;
  }

  /** Parses up to a `<` that may begin a tag, or to the verdict. Returns the offset that it reached. */
  take(text: string, from: number, events: ChatEvent[]): number {
    let at = from;
    while (at < text.length && this.verdict === 'open') {
      const next = this.#advance(text, at, events);
      if (next === at && text.charAt(at) === '<') return at;
      at = next;
    }
    return at;
  }

  /** Consumes text that begins with `<` and is not a tag. */
  takeWords(text: string, events: ChatEvent[]): void {
    if (this.#phase === 'object') {
      this.#object.takeWords(text);
      this.#take(text, events);
    } else if (this.#phase === 'tail') {
      this.end('words', events);
      this.back += text;
    } else {
      this.#body.append(text);
      this.#lineIsBlank = false;
      if (this.opening.certain) this.#phase = 'words';
      else this.#refuse('object');
    }
  }

  /** Ends the block: emits the available parts of the call, and returns text that does not belong to it. */
  end(how: BlockEnd, events: ChatEvent[]): void {
    if (this.#phase === 'words' && how !== 'close' && this.opening.name === null) {
      this.#refuse('words');
      return;
    }
    const isObject = this.#phase === 'object' || this.#phase === 'tail';
    if (!this.opening.certain && this.#index < 0) {
      this.#refuse('object');
      return;
    }
    this.verdict = 'ended';
    if (isObject) this.#endObject(how, events);
    else if (this.#phase === 'words' || this.opening.name !== null) this.#endWithoutObject(how, events);
    else this.isEmpty = true;
    if (how !== 'close' && this.#hasWords) this.back = this.#tail;
  }

  #advance(text: string, at: number, events: ChatEvent[]): number {
    switch (this.#phase) {
      case 'lead':
        return this.#inLead(text, at);
      case 'fence':
        return this.#inFence(text, at);
      case 'object':
        return this.#inObject(text, at, events);
      case 'tail':
        return this.#inTail(text, at, events);
      case 'words':
        return this.#inWords(text, at);
      default:
        return this.#phase satisfies never;
    }
  }

  /** Only white space so far. */
  #inLead(text: string, from: number): number {
    let at = from;
    while (at < text.length && isBlank(text.charAt(at))) at++;
    this.#body.append(text.slice(from, at));
    const char = text.charAt(at);
    if (char === '' || char === '<') return at;
    if (char === '{') this.#beginObject(false);
    else if (!this.opening.certain) this.#refuse('object');
    else if (char === '[') this.#beginObject(true);
    else this.#phase = char === '`' && !this.#isFenced ? 'fence' : 'words';
    return at;
  }

  /** The line that opens a code fence. */
  #inFence(text: string, from: number): number {
    let at = from;
    while (at < text.length && !'\n{<'.includes(text.charAt(at))) at++;
    this.#body.append(text.slice(from, at));
    if (at < text.length) {
      this.#isFenced = true;
      this.#phase = 'lead';
    }
    return at;
  }

  #beginObject(isList: boolean): void {
    this.#phase = 'object';
    this.#isList = isList;
    this.#objectFrom = this.#body.length;
    const shape = isList ? 'list' : this.opening.name === null ? 'call' : 'arguments';
    this.#object = new CallObject(shape, this.opening.certain ? null : this.#context.isTool);
    this.#object.name = this.opening.name;
  }

  #inObject(text: string, from: number, events: ChatEvent[]): number {
    const at = this.#object.take(text, from);
    this.#take(text.slice(from, at), events);
    if (this.verdict !== 'open' || !this.#object.whole) return at;
    this.#phase = 'tail';
    if (this.opening.close === null) this.end('close', events);
    return at;
  }

  /** Text of the object: passed on, or stored until the call is certain. */
  #take(text: string, events: ChatEvent[]): void {
    const object = this.#object;
    if (this.#index >= 0) {
      const room = object.argumentsTo < 0 ? text.length : object.argumentsTo - (object.length - text.length);
      if (room > 0) this.#push({ arguments: text.slice(0, room) }, events);
      return;
    }
    this.#body.append(text);
    const isTooLong = this.#body.length > limits.maxArgumentBytes;
    if (object.refuted || (isTooLong && !this.opening.certain)) {
      this.#refuse('object');
      return;
    }
    if (isTooLong) {
      this.#giveUp(events);
      return;
    }
    if (object.name !== null && object.argumentsFrom >= 0) this.#release(events);
  }

  #refuse(what: 'object' | 'words'): void {
    this.verdict = `no-call: ${what}`;
    this.back = this.#body.read();
  }

  /** Longer than a call may be, and still without a name: the rest is discarded. */
  #giveUp(events: ChatEvent[]): void {
    this.#unreadable(events);
    this.#body = new GrowingText();
  }

  /** Name and arguments are known: emits the text so far. */
  #release(events: ChatEvent[]): void {
    const { name, argumentsFrom, argumentsTo } = this.#object;
    const object = this.#body.read().slice(this.#objectFrom);
    this.#begin({ name }, events);
    this.#push({ arguments: argumentsTo < 0 ? object.slice(argumentsFrom) : object.slice(argumentsFrom, argumentsTo) }, events);
    this.#body = new GrowingText();
  }

  /** After the object: its closing tag, or evidence that there is none. Stray characters on the same line belong to it. */
  #inTail(text: string, from: number, events: ChatEvent[]): number {
    let at = from;
    for (; at < text.length && text.charAt(at) !== '<'; at++) {
      const char = text.charAt(at);
      if (char === '{' && !this.#hasWords) {
        this.#beginAnother(events);
        return at;
      }
      const belongs = isBlank(char) || !this.#isPastLine || (this.#isFenced && char === '`');
      if (!belongs || this.#tail.length > limits.maxHeldText) {
        this.end('words', events);
        return at;
      }
      this.#tail += char;
      if (char === '\n') this.#isPastLine = true;
      if (!isBrackets(char)) this.#hasWords = true;
    }
    return at;
  }

  /** Each further object between the same tags is a separate call. */
  #beginAnother(events: ChatEvent[]): void {
    this.#endObject('open', events);
    this.#index = -1;
    this.#tail = '';
    this.#isPastLine = false;
    this.#hasWords = false;
    this.#body = new GrowingText();
    this.#beginObject(false);
  }

  /** Not an object: unreadable if a closing tag follows, and text about a tag if none does. */
  #inWords(text: string, from: number): number {
    let at = from;
    for (; at < text.length && text.charAt(at) !== '<'; at++) {
      const char = text.charAt(at);
      this.#body.append(char);
      if ((char === '\n' && this.#lineIsBlank) || this.#body.length > limits.maxHeldText) {
        this.#refuse('words');
        return at + 1;
      }
      if (char === '\n') this.#lineIsBlank = true;
      else if (!isBlank(char)) this.#lineIsBlank = false;
    }
    return at;
  }

  #endWithoutObject(how: BlockEnd, events: ChatEvent[]): void {
    if (this.#phase === 'words' || how === 'over') {
      this.#unreadable(events);
      return;
    }
    this.#begin({ name: this.opening.name }, events);
    this.#whole(events);
  }

  #endObject(how: BlockEnd, events: ChatEvent[]): void {
    const { name, whole, mended, argumentsFrom } = this.#object;
    // Without arguments they could still have followed, as in `lateArguments`.
    const isWhole = whole && (how !== 'over' || argumentsFrom >= 0);
    const isClean = this.#tail.trim() === '' && !this.#isFenced && !mended;
    const carrier = isClean ? (isWhole ? undefined : 'closed') : 'mended';
    if (this.#index < 0 && (name === null || !whole || mended)) {
      this.#reread(events);
      return;
    }
    if (this.#index < 0) {
      const late = lateArguments.exec(this.#tail);
      if (late === null && this.#hasWords) {
        this.#unreadable(events);
        return;
      }
      this.#begin({ name }, events);
      if (late !== null) this.#push({ arguments: this.#tail.slice(late[0].length).trim() }, events);
    }
    if (carrier === undefined) this.#whole(events);
    else this.#push({ carrier }, events);
  }

  /** The object could not be parsed incrementally; tries again with the complete text. */
  #reread(events: ChatEvent[]): void {
    // Calls beyond the limit of a reply are dropped, so parsing them again is not worth the cost.
    if (this.#context.assembler.overflowed) return;
    const text = this.#body.read().slice(this.#objectFrom);
    const calls = rereadCalls(text, this.#context.isTool);
    const isClean = !this.#hasWords && !this.#isFenced;
    if (calls.length === 0) this.#unreadable(events);
    for (const call of calls) {
      this.#begin({ name: call.name }, events);
      this.#push({ arguments: call.arguments }, events);
      if (call.exact && isClean && this.#object.whole) this.#whole(events);
      else this.#push({ carrier: 'mended' }, events);
    }
  }

  /** Emits a call anyway, so that the model gets an error. */
  #unreadable(events: ChatEvent[]): void {
    const name = this.#isList ? null : this.#object.name;
    this.#begin({ name: this.opening.name ?? name, arguments: (this.#body.read() + this.#tail).trim(), carrier: 'unreadable' }, events);
  }

  #begin(piece: CallPiece, events: ChatEvent[]): void {
    this.#index = this.#context.assembler.count;
    this.#push(piece, events);
  }

  #push(piece: CallPiece, events: ChatEvent[]): void {
    for (const event of this.#context.assembler.push({ index: this.#index, ...piece })) events.push(event);
  }

  #whole(events: ChatEvent[]): void {
    for (const event of this.#context.assembler.end({ index: this.#index })) events.push(event);
  }
}

/** Some templates write `{"name": "a"}, "arguments": "{…}"`. */
const lateArguments = /^\s*,\s*"(?:arguments|parameters)"\s*:/;

function isBlank(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r';
}

/** Only stray characters of the object. */
function isBrackets(char: string): boolean {
  return isBlank(char) || '}],;`'.includes(char);
}
