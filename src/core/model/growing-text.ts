/**
 * A string that grows by small pieces. Appending to a plain string would keep each piece alive until the end, and with it the network
 * chunk that it was cut from: many times the size of the text. Pieces are therefore joined, a few hundred at a time. Used by the
 * assembler for call arguments.
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
