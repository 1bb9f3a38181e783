/** Follows brackets and strings of JSON, near-JSON and Python, to find where a value ends. Used by `call-block.ts`. */
export class Brackets {
  #depth = 0;
  /** The quote that ends the current string; 0 outside of strings. */
  #quote = 0;
  #escaped = false;
  /** The last character outside of strings that was not white space. */
  #previous = 0;
  #hasBegun = false;

  get isClosed(): boolean {
    return this.#hasBegun && this.#depth <= 0;
  }

  get isInString(): boolean {
    return this.#quote !== 0;
  }

  /** Stops behind the bracket that closes the first one, and before a `<` outside of strings, which may begin a mark. */
  take(text: string, from: number, to: number): number {
    let at = from;
    for (; at < text.length && at < to && !this.isClosed; at++) {
      const code = text.charCodeAt(at);
      if (this.#quote !== 0) this.#inString(code);
      else if (code === lessThan) break;
      else if (code > space) this.#outside(code);
    }
    return at;
  }

  /** The `<` is text. */
  skip(): void {
    this.#previous = lessThan;
  }

  #inString(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === backslash) this.#escaped = true;
    else if (code === this.#quote) {
      this.#quote = 0;
      this.#previous = code;
    }
  }

  #outside(code: number): void {
    if (code === quote || (code === apostrophe && mayBeginString.has(this.#previous))) this.#quote = code;
    else if (openers.has(code)) {
      this.#depth++;
      this.#hasBegun = true;
    } else if (closers.has(code)) this.#depth--;
    this.#previous = code;
  }
}

const codes = (text: string): ReadonlySet<number> => new Set([...text].map((char) => char.charCodeAt(0)));

/** In "don't" the mark is an apostrophe; after one of these it is a quote. */
const mayBeginString = codes('{[,:(=');
const openers = codes('{[(');
const closers = codes('}])');
const space = 0x20;
const quote = 0x22;
const apostrophe = 0x27;
const lessThan = 0x3c;
const backslash = 0x5c;
