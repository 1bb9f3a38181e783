/**
 * A text that grows by small pieces. Adding them to a string would keep each piece alive until the end, and with it the
 * chunk of the wire that it was cut from: many times the text itself. So they are joined, a few hundred at a time. Used by
 * the assembler for the arguments of a call.
 */
export class GrowingText {
  length = 0;
  #joined: string[] = [];
  #pieces: string[] = [];

  append(piece: string): void {
    if (piece === '') return;
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length < joinedPieces) return;
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  read(): string {
    if (this.#joined.length + this.#pieces.length === 0) return '';
    const text = this.#joined.join('') + this.#pieces.join('');
    this.#joined = [text];
    this.#pieces = [];
    return text;
  }
}

const joinedPieces = 256;
