/**
 * Parses the text between the tags of a call incrementally, and passes the call to the assembler, name and arguments, as soon as both
 * certainly belong to a call. The reader of the surrounding text (`tool-calls.ts`), which knows the tags, decides where a block
 * begins and what happens with text that is not a call.
 */
import type { CallPiece } from '../model/open-call.ts';
import type { ChatEvent } from '../model/chat-event.ts';
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';
import { utf8Length } from '../text/utf8.ts';
import { CallObject, repairCalls } from './call-object.ts';
import type { CallOpening } from './call-tags.ts';
import type { ToolCallAssembler } from '../model/tool-call-assembler.ts';

export type BlockContext = {
  assembler: ToolCallAssembler;
  /** Whether a tool has this name. Without a tag that proves a call, an object is a call only if it names a tool. */
  isTool(name: string): boolean;
  emit(events: readonly ChatEvent[]): void;
};

/** Where a block ends: at a closing tag, at another opening tag, at other text, or with the text. */
export type BlockEnd = 'close' | 'open' | 'text' | 'over';

export class CallBlock {
  readonly opening: CallOpening;
  /** `object`: it only looked like a call. `prose`: the text only mentioned the tag. */
  verdict: 'open' | 'ended' | 'no-call: object' | 'no-call: prose' = 'open';
  /** Text that it consumed and that does not belong to it. After `no-call`, everything but the tag. */
  back = '';
  /** The block was empty. */
  isEmpty = false;
  readonly #context: BlockContext;
  #phase: 'lead' | 'fence' | 'object' | 'tail' | 'prose' = 'lead';
  /** Each returns the offset that it reached. */
  readonly #readers = {
    lead: (text: string, at: number) => this.#inLead(text, at),
    fence: (text: string, at: number) => this.#inFence(text, at),
    object: (text: string, at: number) => this.#inObject(text, at),
    tail: (text: string, at: number) => this.#inTail(text, at),
    prose: (text: string, at: number) => this.#inProse(text, at),
  };
  /** The text of the block, until the call is emitted. */
  #body = new GrowingText();
  #bodyBytes = 0;
  #object = new CallObject('call');
  /** Offset of the object in the body. */
  #objectFrom = 0;
  /** The number of the call, once it is emitted. */
  #index = -1;
  /** The text after the object; whether it continues past that line, and whether it contains more than stray characters. */
  #tail = '';
  #isPastLine = false;
  #hasProse = false;
  /** The object is in a code fence inside the tags. */
  #isFenced = false;
  #lineIsBlank = false;

  constructor(opening: CallOpening, context: BlockContext) {
    this.opening = opening;
    this.#context = context;
  }

  /** Parses up to a `<` that may begin a tag, or to the verdict. Returns the offset that it reached. */
  take(text: string, from: number): number {
    let at = from;
    while (at < text.length && this.verdict === 'open') {
      const next = this.#readers[this.#phase](text, at);
      if (next === at && text.charAt(at) === '<') return at;
      at = next;
    }
    return at;
  }

  /** Consumes text that begins with `<` and is not a tag. */
  takeText(text: string): void {
    if (this.#phase === 'object') {
      this.#object.take(text, 0, true);
      this.#take(text);
    } else if (this.#phase === 'tail') {
      this.end('text');
      this.back += text;
    } else {
      this.#body.append(text);
      this.#lineIsBlank = false;
      if (this.opening.certain) this.#phase = 'prose';
      else this.#refuse('object');
    }
  }

  /** Ends the block: emits the available parts of the call, and returns text that does not belong to it. */
  end(how: BlockEnd): void {
    const phase = this.#phase;
    const { name, certain } = this.opening;
    if (phase === 'prose' && how !== 'close' && name === null) this.#refuse('prose');
    else if (!certain && this.#index < 0) this.#refuse('object');
    else {
      this.verdict = 'ended';
      if (phase === 'object' || phase === 'tail') this.#endObject(how);
      else if (phase === 'prose' || (name !== null && how === 'over')) this.#unreadable();
      else if (name !== null) {
        this.#begin({ name });
        this.#endCall();
      } else this.isEmpty = true;
      if (how !== 'close' && this.#hasProse) this.back = this.#tail;
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
    else this.#phase = char === '`' && !this.#isFenced ? 'fence' : 'prose';
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
    this.#objectFrom = this.#body.length;
    const shape = isList ? 'list' : this.opening.name === null ? 'call' : 'arguments';
    this.#object = new CallObject(shape, this.opening.certain ? null : this.#context.isTool);
    this.#object.name = this.opening.name;
  }

  #inObject(text: string, from: number): number {
    const at = this.#object.take(text, from);
    this.#take(text.slice(from, at));
    if (this.verdict !== 'open' || !this.#object.complete) return at;
    this.#phase = 'tail';
    if (this.opening.close === null) this.end('close');
    return at;
  }

  /** Text of the object: passed on, or stored until the call is certain. */
  #take(text: string): void {
    const object = this.#object;
    if (this.#index >= 0) {
      const room = object.argumentsTo < 0 ? text.length : object.argumentsTo - (object.length - text.length);
      if (room > 0) this.#push({ arguments: text.slice(0, room) });
      return;
    }
    this.#body.append(text);
    this.#bodyBytes += utf8Length(text);
    const isTooLong = this.#bodyBytes > limits.maxArgumentBytes;
    if (object.refuted || (isTooLong && !this.opening.certain)) this.#refuse('object');
    else if (isTooLong) {
      // Longer than a call may be, and still without a name: the rest is discarded.
      this.#unreadable();
      this.#body = new GrowingText();
    } else if (object.name !== null && object.argumentsFrom >= 0) this.#release();
  }

  #refuse(what: 'object' | 'prose'): void {
    this.verdict = `no-call: ${what}`;
    this.back = this.#body.read();
  }

  /** Name and arguments are known: emits the text so far. */
  #release(): void {
    const { name, argumentsFrom, argumentsTo } = this.#object;
    const object = this.#body.read().slice(this.#objectFrom);
    this.#begin({ name, arguments: object.slice(argumentsFrom, argumentsTo < 0 ? undefined : argumentsTo) });
    this.#body = new GrowingText();
  }

  /** After the object: its closing tag, or evidence that there is none. Stray characters on the same line belong to it. */
  #inTail(text: string, from: number): number {
    let at = from;
    for (; at < text.length && text.charAt(at) !== '<'; at++) {
      const char = text.charAt(at);
      if (char === '{' && !this.#hasProse) {
        this.#beginAnother();
        return at;
      }
      const belongs = isBlank(char) || !this.#isPastLine || (this.#isFenced && char === '`');
      if (!belongs || this.#tail.length > limits.maxHeldText) {
        this.end('text');
        return at;
      }
      this.#tail += char;
      if (char === '\n') this.#isPastLine = true;
      // Other than a stray character of the object.
      if (!isBlank(char) && !'}],;`'.includes(char)) this.#hasProse = true;
    }
    return at;
  }

  /** Each further object between the same tags is a separate call. */
  #beginAnother(): void {
    this.#endObject('open');
    this.#index = -1;
    this.#tail = '';
    this.#isPastLine = false;
    this.#hasProse = false;
    this.#body = new GrowingText();
    this.#bodyBytes = 0;
    this.#beginObject(false);
  }

  /** Not an object: unreadable if a closing tag follows, and text about a tag if none does. */
  #inProse(text: string, from: number): number {
    let at = from;
    for (; at < text.length && text.charAt(at) !== '<'; at++) {
      const char = text.charAt(at);
      this.#body.append(char);
      if ((char === '\n' && this.#lineIsBlank) || this.#body.length > limits.maxHeldText) {
        this.#refuse('prose');
        return at + 1;
      }
      if (char === '\n') this.#lineIsBlank = true;
      else if (!isBlank(char)) this.#lineIsBlank = false;
    }
    return at;
  }

  #endObject(how: BlockEnd): void {
    const { name, complete, repaired, argumentsFrom } = this.#object;
    // Without arguments they could still have followed, as in `lateArguments`.
    const isComplete = complete && (how !== 'over' || argumentsFrom >= 0);
    const isClean = this.#tail.trim() === '' && !this.#isFenced && !repaired;
    const late = lateArguments.exec(this.#tail);
    if (this.#index < 0 && (name === null || !complete || repaired)) this.#repair();
    else if (this.#index < 0 && late === null && this.#hasProse) this.#unreadable();
    else {
      if (this.#index < 0) this.#begin({ name, ...(late !== null && { arguments: this.#tail.slice(late[0].length).trim() }) });
      if (isClean && isComplete) this.#endCall();
      else this.#push({ carrier: isClean ? 'closed' : 'mended' });
    }
  }

  /** The object could not be parsed incrementally; tries again with the complete text. */
  #repair(): void {
    // Calls beyond the limit of a reply are dropped, so parsing them again is not worth the cost.
    if (this.#context.assembler.overflowed) return;
    const calls = repairCalls(this.#body.read().slice(this.#objectFrom), this.#context.isTool);
    const isClean = !this.#hasProse && !this.#isFenced;
    if (calls.length === 0) this.#unreadable();
    for (const call of calls) {
      this.#begin({ name: call.name, arguments: call.arguments });
      if (call.exact && isClean && this.#object.complete) this.#endCall();
      else this.#push({ carrier: 'mended' });
    }
  }

  /** Emits a call anyway, so that the model gets an error. */
  #unreadable(): void {
    this.#begin({
      name: this.opening.name ?? this.#object.name,
      arguments: (this.#body.read() + this.#tail).trim(),
      carrier: 'unreadable',
    });
  }

  #begin(piece: CallPiece): void {
    this.#index = this.#context.assembler.count;
    this.#push(piece);
  }

  #push(piece: CallPiece): void {
    this.#context.emit(this.#context.assembler.push({ index: this.#index, ...piece }));
  }

  #endCall(): void {
    this.#context.emit(this.#context.assembler.end({ index: this.#index }));
  }
}

/** Some templates write `{"name": "a"}, "arguments": "{…}"`. */
const lateArguments = /^\s*,\s*"(?:arguments|parameters)"\s*:/;

function isBlank(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r';
}
