/** UTF-8 length of text (the product's limits count UTF-8 bytes, not JavaScript characters), cutting of text, and decoding of bytes. */

/** Returns the number of UTF-8 bytes without encoding the text. A lone surrogate counts as its replacement character. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isPair(text, index)) {
      // Two units, four bytes.
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

function isPair(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
}

/** Returns the longest beginning of the text with at most `max` UTF-8 bytes. */
export function cutToBytes(text: string, max: number): string {
  if (text.length * 3 <= max) return text;
  // encodeInto stops before a code point that does not fit, and returns how many UTF-16 units it read.
  return text.slice(0, encoder.encodeInto(text, new Uint8Array(max)).read);
}

const encoder = new TextEncoder();

/** Returns null if the bytes are not UTF-8. Keeps the byte order mark, so that the text can be written back unchanged. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8: the caller gets null.
    return null;
  }
}

/** Returns at most `most` characters: those of a longer text end with `…`, and never in half of a surrogate pair. */
export function cutToLength(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
