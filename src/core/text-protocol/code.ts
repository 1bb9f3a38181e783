/**
 * Code in a model's text, in which marks do not count: fences and spans as defined by CommonMark (spec 0.31, §4.5 and §6.1), with two
 * differences: more counts as a fence (any indentation, since lists indent), and less as a span (it ends with its line, so that a stray
 * backtick does not turn all following text into code). Used by `tool-calls.ts`.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits/limits.ts';
import { utf8Length } from '../text/utf8.ts';
import { isBlank, type TextInput } from './text-input.ts';

/**
 * A block between lines of three or more backticks or tildes. Begins with the line that opens it. One that may be calls is held back until the
 * end of the reply, or until it is an example or other code.
 */
export class CodeFence {
  isClosed = false;
  readonly #opening: { char: string; length: number };
  #held: GrowingText | null;
  #bytes = 0;
  #atLineStart = true;

  constructor(char: string, length: number, mayBeCall: boolean) {
    this.#opening = { char, length };
    this.#held = mayBeCall ? new GrowingText() : null;
  }

  get isHeld(): boolean {
    return this.#held !== null;
  }

  /** Reads up to the end of the input or of the fence, and behind a fence that is held the white space. Returns text to show. */
  read(input: TextInput): string {
    const from = input.at;
    while (!input.atEnd && !this.isClosed && this.#readLine(input));
    let shown = this.add(input.text.slice(from, input.at));
    const end = input.at;
    while (this.isClosed && this.isHeld && !input.atEnd && isBlank(input.char)) input.at++;
    shown += this.add(input.text.slice(end, input.at));
    return shown;
  }

  /** Returns false if the line may turn out to close the fence. */
  #readLine(input: TextInput): boolean {
    const end = input.text.indexOf('\n', input.at);
    const line = input.text.slice(input.at, end < 0 ? input.text.length : end);
    const isShort = this.#atLineStart && line.length < maxLineLength;
    if (isShort && end < 0 && !input.over && /^[ \t\r>]*[`~]*[ \t\r]*$/.test(line)) return false;
    const [, run = ''] = isShort ? (/^[ \t\r>]*(`+|~+)[ \t\r]*$/.exec(line) ?? []) : [];
    this.isClosed = run.startsWith(this.#opening.char) && run.length >= this.#opening.length;
    this.#atLineStart = end >= 0;
    input.at += line.length + (end < 0 || this.isClosed ? 0 : 1);
    return true;
  }

  /** Returns what is to be shown now. */
  add(text: string): string {
    const held = this.#held;
    if (held === null) return text;
    const before = held.length;
    held.append(text);
    this.#bytes += utf8Length(text);
    if (this.#bytes <= limits.maxArgumentBytes && (before > probeLength || mayHoldCall(held.read()))) return '';
    this.#held = null;
    return held.read();
  }

  /** The text that is held, and the part between the lines that open and close the fence. */
  end(): { text: string; content: string } {
    const text = this.#held?.read() ?? '';
    const begin = text.indexOf('\n') + 1;
    const to = this.isClosed ? text.trimEnd().lastIndexOf('\n') + 1 : text.length;
    return { text, content: begin === 0 ? '' : text.slice(begin, to) };
  }
}

/** The part of a fence that is checked early: the line that opens it, and the beginning of its content. */
const probeLength = 200;

function mayHoldCall(text: string): boolean {
  const lineEnd = text.indexOf('\n');
  if (lineEnd < 0) return true;
  const begin = text
    .slice(lineEnd, lineEnd + probeLength)
    .replaceAll(/\s+/g, '')
    .toLowerCase();
  return begin.length < 13 || /^(?:\{"(?:name|arguments|parameters)"|<(?:tool|function|response|json|xml|｜tool))/.test(begin);
}

/** A longer line does not close a fence, and does not open one; a longer run of backticks is read in parts. */
export const maxLineLength = 200;

/** Returns the line that opens a fence at this place, without its line break; null: none. `partial`: the line is not complete. */
export function openingLine({ text, over }: TextInput, at: number, run: number): string | 'partial' | null {
  const end = text.indexOf('\n', at);
  const line = text.slice(at, Math.min(end < 0 ? text.length : end, at + maxLineLength));
  const isSpan = line.startsWith('`') && line.includes('`', run);
  if (run < 3 || isSpan || line.length === maxLineLength) return null;
  return end < 0 && !over ? 'partial' : line;
}

/**
 * Runs of backticks in the text, and what they make of a mark: it is code if a run of the same length follows in its line. If it follows
 * the opening run immediately, the span may extend to the end of the paragraph.
 */
export class CodeSpans {
  /** The length of the run that may have opened a span, and the place where it ends; 0: none. */
  #length = 0;
  #end = 0;
  /** Backticks do not open spans, up to the end of the line or of the paragraph. */
  #strays: 'no' | 'line' | 'paragraph' = 'no';
  /** Of the text that is kept from a mark on. */
  #isWide = false;
  #read = 0;
  #run = 0;
  #lineIsBlank = false;

  get isOpen(): boolean {
    return this.#length > 0;
  }

  /** A run that ends at this place. */
  addRun(length: number, end: number): void {
    if (this.#length > 0) this.#length = length === this.#length ? 0 : this.#length;
    else if (this.#strays === 'no') [this.#length, this.#end] = [length, end];
  }

  endLine(isBlank: boolean): void {
    this.#length = 0;
    if (this.#strays === 'line' || isBlank) this.#strays = 'no';
  }

  /** A mark follows in the open span: the text is kept from here on. */
  beginMark(place: number): void {
    this.#isWide = place === this.#end;
    this.#read = 0;
    this.#run = 0;
    this.#lineIsBlank = false;
  }

  /** Whether the kept text is code. Moves behind the code, or back to the mark. null: it needs more text. */
  resolve(input: TextInput): boolean | null {
    const from = input.kept ?? input.at;
    for (; ; this.#read++) {
      const char = input.text.charAt(from + this.#read);
      const isFull = this.#read >= limits.maxHeldText;
      if (char === '' && !input.over && !isFull) return null;
      if (char === '`' && !isFull) {
        this.#run++;
        this.#lineIsBlank = false;
        continue;
      }
      const isCode = this.#run === this.#length;
      if (isCode || char === '' || isFull || (char === '\n' && (!this.#isWide || this.#lineIsBlank))) {
        input.at = isCode ? from + this.#read : from;
        this.#length = 0;
        if (!isCode) this.#strays = this.#isWide ? 'paragraph' : 'line';
        return isCode;
      }
      this.#run = 0;
      if (char === '\n') this.#lineIsBlank = true;
      else if (!isMargin(char)) this.#lineIsBlank = false;
    }
  }
}

/** Whether the character may precede a fence in its line. */
export function isMargin(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '>';
}

/** Only white space after a line break. */
export function endsInMargin(text: string): boolean {
  let at = text.length;
  while (at > 0 && isMargin(text.charAt(at - 1))) at--;
  return text.charAt(at - 1) === '\n';
}
