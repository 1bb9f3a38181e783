/** The text of a reply as it arrives: what has not been read yet, and what may have to be read again. Used by `tool-calls.ts` and its parts. */
export class TextInput {
  text = '';
  at = 0;
  /** Where text begins that may have to be read again; null: none. */
  kept: number | null = null;
  /** No further text follows. */
  over = false;
  /** The length of the text before `text`. */
  #dropped = 0;

  push(text: string): void {
    const from = this.kept ?? this.at;
    this.text = from === 0 ? this.text + text : this.text.slice(from) + text;
    this.at -= from;
    this.#dropped += from;
    if (this.kept !== null) this.kept = 0;
  }

  /** The place in the whole reply. */
  placeOf(at: number): number {
    return this.#dropped + at;
  }

  get atEnd(): boolean {
    return this.at >= this.text.length;
  }

  get char(): string {
    return this.text.charAt(this.at);
  }

  /** The text since `kept`. */
  since(): string {
    return this.text.slice(this.kept ?? this.at, this.at);
  }

  /** The same, which is then not read again. */
  takeKept(): string {
    const text = this.since();
    this.kept = null;
    return text;
  }
}

export function isBlank(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r';
}
