/**
 * Where a fence and a span of code end, as defined by CommonMark (spec 0.31, §4.5 and §6.1), with two differences: more counts as a
 * fence (any indentation, since lists indent), and less as a span (it ends with its line, so that a stray backtick does not turn all
 * following text into code). Follows the text character by character; `code-reader.ts` decides what to do with it.
 */
import { GrowingText } from '../model/growing-text.ts';
import { limits } from '../limits.ts';

/** The backticks or tildes that begin code. */
export type Run = { char: string; length: number };

/** A block between lines of three or more backticks or tildes. Begins after the run that opens it. */
export class CodeFence {
  /** It has ended; the line break after it was not consumed. */
  closed = false;
  /** The rest of the first line contains a backtick, so it is a span. */
  isSpan = false;
  readonly #opening: Run;
  #place: 'info' | 'margin' | 'line' = 'info';
  /** Length of the run at the start of the line, while the line contains nothing else. */
  #run = 0;

  constructor(opening: Run) {
    this.#opening = opening;
  }

  /** The text so far ends with a line that closes the fence. */
  get atClosingLine(): boolean {
    return this.#run >= this.#opening.length;
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
        this.isSpan = char === '`' && this.#opening.char === '`';
        if (this.isSpan) return at;
      } else if (this.#place === 'margin') {
        if (char === this.#opening.char) this.#run++;
        else if (!isMargin(char)) {
          this.#place = 'line';
          this.#run = 0;
        }
      }
    }
    return text.length;
  }
}

/**
 * Code between two runs of the same number of backticks in one line. Begins after the first run. From a `<` on it is held back until it
 * is certain whether it is code: if no run ends it, the backtick was a stray.
 */
export class CodeSpan {
  /** `line`: the line ended first; the break was not consumed. */
  state: 'open' | 'closed' | 'line' = 'open';
  held: GrowingText | null = null;
  /** The `<` directly follows the backtick, so that the span may extend to the end of the paragraph. */
  isWide = false;
  readonly #length: number;
  #isEmpty = true;
  #run = 0;
  #lineIsBlank = false;

  constructor(length: number) {
    this.#length = length;
  }

  /** Returns the offset that it reached: the end of the text, of the code, or of the text before the first `<`. */
  take(text: string, from: number): number {
    const { held } = this;
    if (held === null) return this.#follow(text, from, text.length);
    const at = this.#follow(text, from, Math.min(text.length, from + limits.maxHeldText - held.length));
    held.append(text.slice(from, at));
    if (held.length >= limits.maxHeldText) this.end();
    return at;
  }

  /** The text has ended. */
  end(): void {
    if (this.state === 'open') this.state = this.#run === this.#length ? 'closed' : 'line';
  }

  #follow(text: string, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      const char = text.charAt(at);
      if (char === '`') {
        this.#run++;
        this.#isEmpty = false;
        this.#lineIsBlank = false;
        continue;
      }
      if (this.#run === this.#length) this.state = 'closed';
      else if (char === '\n' && (!this.isWide || this.#lineIsBlank)) this.state = 'line';
      if (this.state !== 'open') return at;
      this.#run = 0;
      if (char === '<' && this.held === null) {
        this.held = new GrowingText();
        this.isWide = this.#isEmpty;
        return at;
      }
      this.#isEmpty = false;
      if (char === '\n') this.#lineIsBlank = true;
      else if (!isMargin(char)) this.#lineIsBlank = false;
    }
    return end;
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
