/**
 * Parses tool calls from a model's text as it arrives (contract §6): calls become the same events as native calls, markup is removed, and
 * everything else stays text. Only text that may be the start of a mark, and blocks up to their end, are held back. The same text gives the
 * same events however it is chunked, in linear time. `formats.ts` lists the formats, `call-block.ts` collects a block, and `tool-prompt.ts`
 * describes tools to the model.
 * A call is: a block of a format anywhere but in code and reasoning; JSON at the start of a line, or in an ambiguous tag, if it names a tool
 * and is nothing else; a fence that contains only calls, if it is the whole reply.
 */
import type { ChatEvent } from '../model/chat-event.ts';
import { ToolCallAssembler } from '../model/tool-call-assembler.ts';
import { type BlockResult, CallBlock } from './call-block.ts';
import { CodeFence, CodeSpans, endsInMargin, isMargin, maxLineLength, openingLine } from './code.ts';
import { bareMark, type CallMark, codeMark, type Mark, matchMark, matchText } from './formats.ts';
import { TextInput } from './text-input.ts';
import { VisibleOutput } from './visible-output.ts';
import { type CallableTools, isUsable, type WrittenCall } from './written-calls.ts';

/**
 * What a block is that does not contain exactly calls of the tools. `call`: a malformed call or one of another tool, so that the model that
 * reads its result can correct it. `text`: what it was, as for a client, which expects its own tools and valid JSON. `leak`: the same, and
 * a fence, reasoning or a result is no part of a call either: the reply of a model that has native calls.
 */
export type Otherwise = 'call' | 'text' | 'leak';

type Place = { kind: 'prose' | 'span' } | { kind: 'block'; block: CallBlock } | { kind: 'fence'; fence: CodeFence } | Skipped;
type Skipped = { kind: 'reasoning' | 'response'; close: string };

type ReaderOptions = CallableTools & { otherwise?: Otherwise; isInFence?: boolean; bare?: boolean };

const prose: Place = { kind: 'prose' };

export class TextToolCalls {
  readonly #tools: CallableTools;
  readonly #otherwise: Otherwise;
  readonly #bare: boolean;
  readonly #input = new TextInput();
  readonly #output = new VisibleOutput();
  readonly #assembler = new ToolCallAssembler();
  readonly #spans = new CodeSpans();
  #place: Place = prose;
  /** Only white space precedes this in its line. */
  #atLineStart = true;
  #hadEmptyBlock = false;
  /** Fences are not held: this one's content is read, or they are no calls. */
  #isInFence: boolean;
  /** Closing marks that may still follow. */
  readonly #expected = new Set<string>();

  /** `bare`: whether JSON without a mark may be a call. */
  constructor({ otherwise = 'call', isInFence = false, bare = true, ...tools }: ReaderOptions) {
    this.#tools = tools;
    this.#otherwise = otherwise;
    this.#bare = bare;
    this.#isInFence = isInFence || otherwise === 'leak';
  }

  /** The reply started more calls than allowed and must end with an error. */
  get overflowed(): boolean {
    return this.#assembler.overflowed;
  }

  push(text: string): ChatEvent[] {
    this.#input.push(text);
    this.#run();
    return this.#output.takeEvents();
  }

  /**
   * Ends the text and every call in it; `ended` and `length` as in `ToolCallAssembler.finish`. `hasOtherCalls`: the reply also had
   * native calls; without any, a reply that consists of an empty block is a malformed call.
   */
  finish({ hasOtherCalls = false, ...how }: { ended: boolean; length: boolean; hasOtherCalls?: boolean }): ChatEvent[] {
    const output = this.#output;
    this.#input.over = true;
    this.#run();
    if (this.#hadEmptyBlock && !output.hasText && !hasOtherCalls && this.#assembler.count === 0)
      output.emit(this.#assembler.push({ index: 0, arguments: '<tool_call></tool_call>', carrier: 'unreadable' }));
    output.finish();
    output.emit(this.#assembler.finish(how));
    return output.takeEvents();
  }

  #run(): void {
    while (!this.#input.atEnd || (this.#input.over && this.#place !== prose)) if (!this.#step(this.#place)) return;
  }

  /** Reads on in the current place. Returns false when it needs more text. */
  #step(place: Place): boolean {
    switch (place.kind) {
      case 'prose':
        return this.#inProse();
      case 'span':
        return this.#inSpan();
      case 'block':
        return this.#inBlock(place.block);
      case 'fence':
        return this.#inFence(place.fence);
      case 'reasoning':
      case 'response':
        return this.#inSkipped(place);
      default:
        return place satisfies never;
    }
  }

  // ---- Text and marks ----

  #inProse(): boolean {
    const input = this.#input;
    const { text } = input;
    for (let at = input.at; ; ) {
      const char = text.charAt(at);
      const next = special.has(char) || char === '' ? this.#onSpecial(char, at) : at + 1;
      if (next === 'left') return true;
      if (next === 'partial' || char === '') {
        this.#emitTo(at);
        return false;
      }
      if (char === '\n') {
        this.#spans.endLine(this.#atLineStart);
        this.#atLineStart = true;
      } else if (this.#atLineStart && !isMargin(char)) this.#atLineStart = false;
      at = next;
    }
  }

  #emitTo(at: number): void {
    const input = this.#input;
    this.#output.addText(input.text.slice(input.at, at));
    input.at = at;
  }

  /** Returns where the text continues; `left`: another place begins, or the input has moved. */
  #onSpecial(char: string, at: number): number | 'partial' | 'left' {
    if (char === '`' || char === '~') return this.#onRun(char, at);
    const isBare = this.#bare && this.#atLineStart && char !== '<' && char !== '';
    if (char === '{' || char === '') return isBare ? this.#begin(bareMark, at, 0) : at + 1;
    const { text, over } = this.#input;
    const found = matchMark(text, at);
    if (found === 'partial' && !over) return found;
    if (found !== null && found !== 'partial') return this.#onMark(found.mark, at, found.length);
    return isBare ? this.#begin(bareMark, at, 0) : at + 1;
  }

  /** Backticks or tildes. */
  #onRun(char: string, at: number): number | 'partial' | 'left' {
    const input = this.#input;
    let end = at;
    while (input.text.charAt(end) === char && end - at < maxLineLength) end++;
    if (end === input.text.length && end - at < maxLineLength && !input.over) return 'partial';
    const line = this.#atLineStart ? openingLine(input, at, end - at) : null;
    if (line === 'partial') return line;
    if (line === null) {
      if (char === '`') this.#spans.addRun(end - at, input.placeOf(end));
      return end;
    }
    if (line.trimEnd() === codeMark.open.trimEnd()) return this.#begin(codeMark, at, line.length);
    this.#emitTo(at);
    input.at += line.length;
    const fence = new CodeFence(char, end - at, !this.#isInFence && !this.#output.hasText && this.#assembler.count === 0);
    this.#output.addText(fence.add(line));
    this.#place = { kind: 'fence', fence };
    return 'left';
  }

  #onMark(mark: Mark, at: number, length: number): number | 'left' {
    const end = at + length;
    const isSkipped = mark.kind === 'reasoning' || mark.kind === 'response';
    const isExpected = mark.kind === 'close' && this.#expected.has(mark.open);
    if (mark.kind === 'open') return this.#begin(mark, at, length);
    if (this.#otherwise === 'leak' ? !isExpected : isSkipped ? !this.#atLineStart : mark.kind === 'close' && !isExpected) return end;
    this.#emitTo(at);
    this.#input.at = end;
    if (isSkipped) {
      this.#place = { kind: mark.kind, close: mark.close };
      return 'left';
    }
    this.#expected.delete(mark.open);
    this.#skipMarkup();
    return 'left';
  }

  /** A block begins, unless its mark is in a span of code. */
  #begin(mark: CallMark, at: number, length: number): 'left' {
    const input = this.#input;
    this.#emitTo(at);
    input.kept = at;
    if (this.#spans.isOpen) {
      this.#spans.beginMark(input.placeOf(at));
      this.#place = { kind: 'span' };
    } else {
      input.at = at + length;
      this.#place = { kind: 'block', block: new CallBlock(mark, length, this.#tools) };
    }
    return 'left';
  }

  #inSpan(): boolean {
    const isCode = this.#spans.resolve(this.#input);
    if (isCode === null) return false;
    this.#atLineStart &&= !isCode;
    this.#output.addText(this.#input.since());
    this.#input.kept = null;
    this.#place = prose;
    return true;
  }

  /** The following text counts as the start of a line. */
  #skipMarkup(): void {
    this.#atLineStart = true;
    this.#output.skip();
  }

  /** Reasoning contains no calls; a result that the model invented is removed. */
  #inSkipped({ kind, close }: Skipped): boolean {
    const input = this.#input;
    const found = input.text.indexOf('<', input.at);
    const begin = found < 0 ? input.text.length : found;
    const length = found < 0 ? 0 : matchText(close, input.text, begin);
    const isPartial = length === 'partial' && !input.over;
    const closed = length === 'partial' ? 0 : length;
    const end = found < 0 || isPartial || closed > 0 ? begin : begin + 1;
    if (kind === 'reasoning') this.#output.addReasoning(input.text.slice(input.at, end));
    input.at = end + closed;
    if (closed > 0) this.#skipMarkup();
    if (closed > 0 || input.atEnd) this.#place = closed > 0 || input.over ? prose : this.#place;
    return !isPartial;
  }

  // ---- Blocks ----

  #inBlock(block: CallBlock): boolean {
    const result = block.read(this.#input);
    if (result === null) {
      const tooLong = block.spill();
      if (this.#otherwise !== 'call' || !block.mark.certain) this.#output.addText(tooLong);
      return false;
    }
    this.#place = prose;
    this.#atLineStart = false;
    if (result.kind === 'prose') this.#output.addText(result.text);
    else this.#endBlock(result);
    return true;
  }

  #endBlock(result: Exclude<BlockResult, { kind: 'prose' }>): void {
    const { kind, text, calls, how, closes, isCertain } = result;
    const isLenient = this.#otherwise === 'call' && isCertain;
    const isLeak = this.#otherwise === 'leak';
    if (!isLenient && (kind === 'empty' || !calls.every((call) => isUsable(call, this.#tools, isCertain, isLeak)))) {
      this.#output.addText(text);
      this.#atLineStart = endsInMargin(text);
      return;
    }
    this.#skipMarkup();
    this.#hadEmptyBlock ||= kind === 'empty';
    for (const close of closes) this.#expected.add(close);
    if (kind === 'empty') return;
    for (const call of calls) this.#emitCall(call, how === 'over' && call.arguments === '');
  }

  /** `mayContinue`: the text ended where more could have followed. */
  #emitCall({ name, arguments: args, fault }: WrittenCall, mayContinue: boolean): void {
    const index = this.#assembler.count;
    this.#output.emit(this.#assembler.push({ index, name, arguments: args, ...(fault !== null && { carrier: fault }) }));
    if (fault === null && !mayContinue) this.#output.emit(this.#assembler.end({ index }));
  }

  // ---- Code ----

  #inFence(fence: CodeFence): boolean {
    const input = this.#input;
    this.#output.addText(fence.read(input));
    // Behind a fence that is held, other text shows that it is no call.
    const isDecided = fence.isClosed && (!fence.isHeld || !input.atEnd);
    if (!isDecided && !input.over) return false;
    this.#place = prose;
    this.#atLineStart = false;
    if (!fence.isHeld) return true;
    const { text, content } = fence.end();
    if (!input.atEnd || !holdsCallsOnly(content, this.#tools)) {
      this.#output.addText(text);
      this.#atLineStart = endsInMargin(text);
      return true;
    }
    this.#isInFence = true;
    this.#atLineStart = true;
    input.push(content);
    return true;
  }
}

const special: ReadonlySet<string> = new Set(['<', '[', '{', '`', '~']);

function holdsCallsOnly(text: string, tools: CallableTools): boolean {
  const reader = new TextToolCalls({ ...tools, otherwise: 'text', isInFence: true });
  const events = [...reader.push(text), ...reader.finish({ ended: true, length: false })];
  const isCall = ({ type }: ChatEvent): boolean => type.startsWith('call-');
  return events.some(isCall) && events.every((event) => isCall(event) || (event.type === 'text' && event.text.trim() === ''));
}
