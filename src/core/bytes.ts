/** Joins byte chunks from a network, a database or a series of appends. */

export function joinBytes(pieces: readonly (Uint8Array | ArrayBuffer)[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece instanceof Uint8Array ? piece : new Uint8Array(piece), offset);
    offset += piece.byteLength;
  }
  return whole;
}
