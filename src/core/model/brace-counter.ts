/**
 * Follows the nesting of a JSON object piece by piece, to know when it is whole. It judges brackets and strings, not JSON: what it
 * takes for whole is parsed by others. Used by `open-call.ts`.
 */
export class BraceCounter {
  isWhole = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Only a bracket that is the first thing in the text opens the object; after anything else nothing is counted. */
  #state: 'before' | 'inside' | 'uncounted' = 'before';

  /** Reads on; answers how much of `text` still belongs to the object. */
  count(text: string): number {
    if (this.isWhole) return 0;
    let at = 0;
    if (this.#state === 'before') {
      at = text.length - text.trimStart().length;
      if (at === text.length) return at;
      this.#state = text[at] === '{' || text[at] === '[' ? 'inside' : 'uncounted';
    }
    if (this.#state === 'uncounted') return text.length;
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (code === 0x5c) escaped = true;
        else if (code === 0x22) inString = false;
      } else if (code === 0x22) {
        inString = true;
      } else if (code === 0x7b || code === 0x5b) {
        depth++;
      } else if ((code === 0x7d || code === 0x5d) && --depth === 0) {
        this.isWhole = true;
        return at + 1;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    return at;
  }
}
