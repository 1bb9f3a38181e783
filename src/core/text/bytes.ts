/** Bytes: joined, and as text in hex, base64 and base64url. Node 24 has no `Uint8Array.fromBase64` or `toHex` yet. */

export function joinBytes(pieces: readonly (Uint8Array | ArrayBuffer)[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.byteLength, 0));
  let offset = 0;
  for (const piece of pieces) {
    whole.set(piece instanceof Uint8Array ? piece : new Uint8Array(piece), offset);
    offset += piece.byteLength;
  }
  return whole;
}

/** Returns two lower-case hexadecimal digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (let index = 0; index < bytes.length; index += 1) hex += hexOfByte[bytes[index] ?? 0];
  return hex;
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Returns one character per byte (ISO 8859-1; the `latin1` of TextDecoder is windows-1252). */
export function fromLatin1(bytes: Uint8Array): string {
  let text = '';
  // In chunks: a single call with all bytes as arguments would overflow the stack.
  for (let offset = 0; offset < bytes.byteLength; offset += 0x2000) text += String.fromCharCode(...bytes.subarray(offset, offset + 0x2000));
  return text;
}

/** Returns one byte per character, none of which may be above U+00FF. */
export function toLatin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  return btoa(fromLatin1(bytes));
}

/** Accepts line breaks, as in mail and in the output of the command `base64`. Returns null for invalid input. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return toLatin1(atob(text));
  } catch {
    // Invalid base64: the caller gets null.
    return null;
  }
}

/** Base64url without padding (RFC 4648 §5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Accepts only the canonical text of the bytes, without padding. Returns null for anything else. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text)) return null;
  const bytes = fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  // The unused bits after the last byte could differ without changing the bytes.
  return bytes !== null && toBase64Url(bytes) === text ? bytes : null;
}
