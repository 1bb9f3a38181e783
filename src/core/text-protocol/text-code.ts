/**
 * Code in a model's text, as defined by CommonMark (spec 0.31, §4.5 and §6.1): a call inside code is an example. Follows fences and
 * spans character by character; `text-tool-calls.ts` decides what to do with the text.
 * More counts as a fence than in CommonMark (any indentation, since lists indent), and less as a span: it ends with its line, so that
 * a stray backtick does not turn all following text into code.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';

/** A block between lines of three or more backticks or tildes. Begins after the run that opens it. */
export class CodeFence {
  /** It has ended; the line break after it was not consumed. */
  closed = false;
  /** The rest of the first line contains a backtick, so it is a span. */
  isSpan = false;
  readonly #char: string;
  readonly #length: number;
  #place: 'info' | 'margin' | 'line' = 'info';
  /** Length of the run at the start of the line, while the line contains nothing else. */
  #run = 0;

  constructor(char: string, length: number) {
    this.#char = char;
    this.#length = length;
  }

  /** The text so far ends with a line that closes the fence. */
  get atClosingLine(): boolean {
    return this.#run >= this.#length;
  }

  /** Returns the offset that it reached: the end of the text, or of the code. */
  take(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === '\n') {
        this.closed = this.atClosingLine;
        if (this.closed) return at;
        this.#place = 'margin';
        this.#run = 0;
      } else if (this.#place === 'info') {
        this.isSpan = char === '`' && this.#char === '`';
        if (this.isSpan) return at;
      } else if (this.#place === 'margin') {
        if (char === this.#char) this.#run++;
        else if (!isMargin(char)) this.#leaveMargin();
      }
    }
    return text.length;
  }

  #leaveMargin(): void {
    this.#place = 'line';
    this.#run = 0;
  }
}

/** Whether the character may precede a fence in its line. */
export function isMargin(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '>';
}

/** Code between two runs of the same number of backticks in one line. Begins after the first run. */
export class CodeSpan {
  /** `line`: the line ended first; the break was not consumed. `angle`: a `<` follows. */
  state: 'open' | 'closed' | 'line' | 'angle' = 'open';
  /** Nothing followed its start yet. */
  isEmpty = true;
  readonly #length: number;
  #run = 0;

  constructor(length: number) {
    this.#length = length;
  }

  take(text: string, from: number): number {
    for (let at = from; at < text.length; at++) {
      const char = text.charAt(at);
      if (char === '`') {
        this.#run++;
        this.isEmpty = false;
        continue;
      }
      if (this.#run === this.#length) this.state = 'closed';
      else if (char === '\n') this.state = 'line';
      else if (char === '<') this.state = 'angle';
      if (this.state !== 'open') return at;
      this.#run = 0;
      this.isEmpty = false;
    }
    return text.length;
  }
}

/**
 * A span that contains a `<`: held back until it is certain whether it is code. If no run ends it in its line, the backtick was a
 * stray. `isWide`: the `<` directly follows the backtick, so that the span may extend to the end of the paragraph.
 */
export class DoubtfulSpan {
  state: 'open' | 'code' | 'stray' = 'open';
  readonly isWide: boolean;
  readonly #length: number;
  readonly #held = new GrowingText();
  #run = 0;
  #lineIsBlank = false;

  constructor(length: number, isWide: boolean) {
    this.#length = length;
    this.isWide = isWide;
  }

  get text(): string {
    return this.#held.read();
  }

  take(text: string, from: number): number {
    const end = Math.min(text.length, from + limits.maxHeldText - this.#held.length);
    const at = this.#follow(text, from, end);
    this.#held.append(text.slice(from, at));
    if (this.#held.length >= limits.maxHeldText) this.end();
    return at;
  }

  /** The text has ended. */
  end(): void {
    if (this.state === 'open') this.state = this.#run === this.#length ? 'code' : 'stray';
  }

  #follow(text: string, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      const char = text.charAt(at);
      if (char === '`') {
        this.#run++;
        this.#lineIsBlank = false;
        continue;
      }
      if (this.#run === this.#length) this.state = 'code';
      else if (char === '\n' && (!this.isWide || this.#lineIsBlank)) this.state = 'stray';
      if (this.state !== 'open') return at;
      this.#run = 0;
      if (char === '\n') this.#lineIsBlank = true;
      else if (!isMargin(char)) this.#lineIsBlank = false;
    }
    return end;
  }
}
