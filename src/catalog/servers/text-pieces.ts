/** Splits long texts into UTF-8 chunks that fit into an SQLite value. */
import { limits } from '../../core/limits.ts';

/** Returns no chunks for an empty text. */
export function toTextPieces(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; start += limits.storageChunkBytes) {
    pieces.push(bytes.slice(start, start + limits.storageChunkBytes));
  }
  return pieces;
}

/** Returns null if there are no chunks. */
export function fromTextPieces(pieces: readonly ArrayBuffer[]): string | null {
  if (pieces.length === 0) return null;
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode();
}
