/**
 * One block of calls: what precedes its content, the content up to its end, and what stands behind it. The content is read as a whole when
 * the block ends. Used by `tool-calls.ts`, which finds the mark that begins a block.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits/limits.ts';
import { utf8Length } from '../text/utf8.ts';
import { Brackets } from './brackets.ts';
import { type BlockMark, type CallMark, codeMark, type BlockContent, type Form, markInBlock } from './formats.ts';
import { mayBeCall } from './probe-call.ts';
import { isBlank, type TextInput } from './text-input.ts';
import { type CallableTools, lateArguments, readContent, unreadable, type WrittenCall } from './written-calls.ts';

/** How a block ends: at its closing mark, at another opening mark, at other text, or with the text. */
export type BlockEnd = 'close' | 'open' | 'text' | 'over';

/** `prose`: the text only mentioned the mark, and the input continues behind it. `text`: all text of the block; `closes`: marks that may follow. */
export type BlockResult =
  | { kind: 'prose'; text: string }
  | { kind: 'empty' | 'calls'; text: string; calls: WrittenCall[]; how: BlockEnd; closes: readonly string[]; isCertain: boolean };

export class CallBlock {
  mark: CallMark;
  readonly #tools: CallableTools;
  /** The closing marks of the block and of those around it. */
  readonly #closes: string[] = [];
  #phase: 'lead' | 'content' | 'tail' = 'lead';
  /** The length of the marks so far. */
  #marked: number;
  #lineIsBlank = false;
  #hasProse = false;
  #isPastLine = false;
  #tries = 0;
  #content: BlockContent = 'calls';
  /** The tool, if its name is not in the content. */
  #name = '';
  #isFenced = false;
  #brackets = new Brackets();
  /** The text of the block, from its first mark on, and the offset of its content in it. */
  #raw = new GrowingText();
  #from = 0;
  /** Where objects in the content end. */
  #ends: number[] = [];
  /** White space and stray brackets behind the content. */
  #strays = '';
  #bytes = 0;
  #isTooLong = false;
  #isProven: boolean;

  /** The mark was just read: `input.kept` is where it begins. */
  constructor(mark: CallMark, length: number, tools: CallableTools) {
    this.mark = mark;
    this.#marked = length;
    this.#tools = tools;
    this.#isProven = mark.certain;
    if (mark.close !== null) this.#closes.unshift(mark.close);
  }

  /** Reads on. Returns null when it needs more text. */
  read(input: TextInput): BlockResult | null {
    for (;;) {
      const phase = this.#phase;
      const result = phase === 'lead' ? this.#inLead(input) : phase === 'content' ? this.#inContent(input) : this.#inTail(input);
      if (result !== null || phase === this.#phase) return result;
    }
  }

  /** Text of a block that is too long, once. */
  spill(): string {
    if (!this.#isTooLong) return '';
    const text = this.#raw.read();
    this.#raw = new GrowingText();
    return text;
  }

  // ---- Before the content ----

  #inLead(input: TextInput): BlockResult | null {
    for (; !input.atEnd; input.at++) {
      const { char } = input;
      const found = this.#markAt(input);
      if (found === 'partial') return null;
      if (found?.kind === 'close') return this.#endLead(input, found.length);
      if (found !== null) {
        if (this.#hasProse || !this.mark.certain) return this.#refuse(input);
        if (found.mark === this.mark || this.#closes.length === maxNested) return this.#end(input, 'open');
        this.#nest(found.mark, found.length, input);
        continue;
      }
      const form = '{[(<'.includes(char) ? this.#formAt(char, input) : null;
      if (form !== null) return this.#beginContent(form, input);
      if (this.#isProse(char, input)) return this.#refuse(input);
    }
    if (!input.over) return null;
    return !this.#hasProse && this.mark.certain ? this.#end(input, 'over') : this.#endUnfinished(input);
  }

  #lead(input: TextInput): string {
    return input.since().slice(this.#marked);
  }

  /** A block in the block: the marks around it belong to it. */
  #nest(mark: CallMark, length: number, input: TextInput): void {
    input.at += length - 1;
    this.#marked = input.since().length + 1;
    this.mark = mark;
    if (mark.close !== null) this.#closes.unshift(mark.close);
  }

  #formAt(char: string, input: TextInput): Form | null {
    if (this.#tries > maxTries) return null;
    const lead = this.#lead(input);
    if (lead.length > maxHeadLength) return null;
    this.#tries++;
    return this.mark.forms.find(({ begins, head }) => begins.includes(char) && head.test(lead)) ?? null;
  }

  /** Whether the lead turns out to be other text: a blank line ends it, and so does its length. Notes what the character is. */
  #isProse(char: string, input: TextInput): boolean {
    if (!isBlank(char)) {
      if (!this.mark.certain) return true;
      this.#hasProse = true;
      this.#lineIsBlank = false;
    } else if (char === '\n') {
      if (this.#hasProse && this.#lineIsBlank) return true;
      this.#lineIsBlank = true;
    }
    return input.at - (input.kept ?? 0) - this.#marked > limits.maxHeldText;
  }

  #refuse(input: TextInput): BlockResult {
    input.at = (input.kept ?? 0) + Math.max(this.#marked, 1);
    return { kind: 'prose', text: input.takeKept() };
  }

  #beginContent({ head, content }: Form, input: TextInput): null {
    const lead = this.#lead(input);
    this.#name = head.exec(lead)?.groups?.name ?? '';
    this.#content = content;
    this.#isFenced = lead.includes('```');
    this.#hasProse = false;
    this.#raw.append(input.since());
    // Python's name of a call is part of its content.
    this.#from = input.char === '(' ? this.#marked : this.#raw.length;
    if (this.#isProven) input.kept = null;
    this.#phase = 'content';
    return null;
  }

  /** The closing mark follows the lead: a call without arguments, or none. */
  #endLead(input: TextInput, length: number): BlockResult {
    const lead = this.#lead(input);
    if (!this.mark.certain) return this.#refuse(input);
    const named = this.mark.forms.find(({ content, head }) => content !== 'calls' && head.test(lead));
    this.#content = named?.content ?? 'calls';
    this.#name = named?.head.exec(lead)?.groups?.name ?? '';
    // In a block for JSON, a single word is a call only if it is a tool.
    if (this.mark.forms.some(({ content }) => content === 'calls') && !this.#tools.isTool(this.#name)) this.#name = '';
    this.#raw.append(input.since());
    this.#from = this.#name === '' ? this.#marked : this.#raw.length;
    return this.#end(input, 'close', length);
  }

  /** The text ends before the content: a name alone may be a call that was cut off. */
  #endUnfinished(input: TextInput): BlockResult {
    const lead = this.#lead(input);
    const named = this.mark.forms.find(({ content, head }) => content === 'arguments' && head.test(lead));
    if (named === undefined || !this.mark.certain) return this.#refuse(input);
    const call = { ...unreadable(''), name: named.head.exec(lead)?.groups?.name ?? '' };
    return { kind: 'calls', text: input.takeKept(), calls: [call], how: 'over', closes: [], isCertain: true };
  }

  // ---- The content ----

  #inContent(input: TextInput): BlockResult | null {
    while (!input.atEnd) {
      const from = input.at;
      if (this.#content === 'parameters') while (!input.atEnd && input.char !== '<') input.at++;
      else input.at = this.#brackets.take(input.text, from, this.#isProven ? input.text.length : from + this.#probeStep);
      this.#take(input.text.slice(from, input.at));
      if (!this.#isProven && !this.#prove(input)) return this.#refuse(input);
      if (this.#content !== 'parameters' && this.#brackets.isClosed) {
        this.#ends.push(this.#raw.length - this.#from);
        this.#bytes = 0;
        this.#phase = 'tail';
        input.kept = input.at;
        return null;
      }
      // A probe may end in a string: a `<` there is no mark.
      if (input.atEnd || input.char !== '<' || this.#brackets.isInString) continue;
      const found = this.#markAt(input);
      if (found === 'partial') return null;
      if (found?.kind === 'close') return this.#end(input, 'close', found.length);
      if (found?.kind === 'open') return this.#end(input, 'open');
      if (!this.mark.certain) return this.#end(input, 'text');
      this.#take('<');
      this.#brackets.skip();
      input.at++;
    }
    return input.over ? this.#end(input, 'over') : null;
  }

  /** More each time, since most other JSON shows what it is at once. */
  get #probeStep(): number {
    return Math.max(4, this.#raw.length - this.#from);
  }

  #take(text: string): void {
    this.#raw.append(text);
    this.#bytes += utf8Length(text);
    if (this.#bytes > limits.maxArgumentBytes) this.#isTooLong = true;
  }

  /** Without a certain mark: whether it may still be a call. Until that is certain, its text is kept. */
  #prove(input: TextInput): boolean {
    const found = mayBeCall(this.#raw.read().slice(this.#from), this.#tools);
    if (found === 'yes') {
      this.#isProven = true;
      input.kept = null;
    }
    return found === 'yes' || (found === 'perhaps' && this.#raw.length - this.#from < maxHeadLength && !(input.over && input.atEnd));
  }

  // ---- After an object ----

  /** The closing mark, another object, or evidence that there is none. Stray characters in the same line belong to the block. */
  #inTail(input: TextInput): BlockResult | null {
    for (; !input.atEnd; input.at++) {
      const { char } = input;
      const found = this.#markAt(input);
      if (found === 'partial') return null;
      if (found !== null) return this.#endTail(input, found.kind, found.length);
      if (this.#beginsAnother(char)) {
        const between = input.takeKept();
        if (!this.mark.certain) {
          this.#strays = between;
          return this.#end(input, 'open');
        }
        this.#raw.append(between);
        this.#brackets = new Brackets();
        this.#phase = 'content';
        return null;
      }
      if (char === '\n') this.#isPastLine = true;
      const mayFollow =
        this.mark.certain && this.mark.close !== null ? !this.#isPastLine || (this.#isFenced && char === '`') : char === ';';
      const belongs = isBlank(char) || mayFollow;
      if (!belongs || input.at - (input.kept ?? 0) > limits.maxHeldText) return this.#endTail(input, 'text');
      if (!isBlank(char) && !'}],;`)'.includes(char)) this.#hasProse = true;
    }
    return input.over ? this.#endTail(input, 'over') : null;
  }

  /** Another object, or another line of Python. */
  #beginsAnother(char: string): boolean {
    if (this.#hasProse || this.#content !== 'calls') return false;
    return char === '{' || char === '[' || (this.mark === codeMark && /\w/.test(char));
  }

  #endTail(input: TextInput, how: BlockEnd, length = 0): BlockResult {
    if (how === 'close' || lateArguments.test(input.since())) this.#raw.append(input.takeKept());
    // The rest may be other text: it is read again.
    else if (this.#hasProse || !this.mark.certain || this.mark.close === null) input.at = input.kept ?? input.at;
    else this.#strays = input.takeKept();
    input.kept = null;
    return this.#end(input, how, how === 'close' ? length : 0);
  }

  // ---- The end ----

  /** `length`: of the closing mark. */
  #end(input: TextInput, how: BlockEnd, length = 0): BlockResult {
    if (this.#phase === 'lead' && this.#raw.length === 0) this.#raw.append(input.since());
    if (this.#phase === 'lead' && this.#from === 0) this.#from = this.#marked;
    const whole = this.#raw.read();
    const text = whole + this.#strays + input.text.slice(input.at, input.at + length);
    input.at += length;
    input.kept = null;
    const content = whole.slice(this.#from);
    const calls = this.#isTooLong ? [unreadable(content)] : this.#readContent(content, how === 'close');
    const isEmpty = this.#phase === 'lead' && this.#name === '' && content.trim() === '';
    const closes = how === 'close' ? this.#closes.slice(1) : this.#closes;
    return { kind: isEmpty ? 'empty' : 'calls', text, calls, how, closes, isCertain: this.mark.certain };
  }

  #readContent(content: string, isClosed: boolean): WrittenCall[] {
    if (this.#phase === 'lead' && this.#name === '') return [unreadable(content.trim())];
    const kind = this.#phase === 'lead' ? 'arguments' : this.#content;
    return readContent(content, { kind, name: this.#name, ends: this.#ends, isFenced: this.#isFenced, isClosed }, this.#tools);
  }

  #markAt(input: TextInput): BlockMark {
    return markInBlock(input, this.#closes, this.#phase === 'content' && this.#content === 'parameters');
  }
}

/** A section, a block in it, and a mark of another format. */
const maxNested = 3;
const maxTries = 8;
const maxHeadLength = 512;
