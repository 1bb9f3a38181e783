/** Base64 (RFC 4648 §4), both ways. The alphabet for URLs is `base64url.ts`. */

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: one call with all bytes as arguments would overflow the stack.
  for (let offset = 0; offset < bytes.byteLength; offset += 0x2000)
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 0x2000));
  return btoa(binary);
}

/** Line breaks in it are let pass, as mail and the command `base64` write them. null: it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    // Not base64: the answer is the test's result.
    return null;
  }
}
