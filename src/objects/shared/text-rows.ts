/** Long texts in SQLite, split into parts that fit in a row. */
import { limits } from '../../core/limits/limits.ts';

/** Joins what `writeChunks` stored, from rows in the order of `seq`; null without rows. */
export function readChunks(rows: Iterable<Record<string, SqlStorageValue>>): string | null {
  const parts = [...rows].map(({ part }) => part);
  return parts.length === 0 ? null : parts.join('');
}

/** Splits a text into parts that fit in a row. */
export function writeChunks(text: string, write: (seq: number, part: string) => void): void {
  for (let seq = 0, at = 0; at < text.length; seq += 1) {
    let end = Math.min(text.length, at + limits.maxRowCharacters);
    // SQLite stores UTF-8, which has no lone surrogates, so a cut never splits a surrogate pair.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    write(seq, text.slice(at, end));
    at = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
