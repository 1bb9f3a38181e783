/** Base64 (RFC 4648 §4), both directions. The URL-safe alphabet is in `base64url.ts`. */

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In chunks: a single call with all bytes as arguments would overflow the stack.
  for (let offset = 0; offset < bytes.byteLength; offset += 0x2000)
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 0x2000));
  return btoa(binary);
}

/** Accepts line breaks, as in mail and in the output of the command `base64`. Returns null for invalid input. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    // Invalid base64: the caller gets null.
    return null;
  }
}
