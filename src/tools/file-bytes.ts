/** Bytes of a session's file as a model reads and writes them: text, or base64 of any. */

/** null: not UTF-8. The byte order mark stays: what is read can be written back unchanged. */
export function toText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8: the answer is the test's result.
    return null;
  }
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // In pieces: one call with all bytes as arguments would overflow the stack.
  for (let offset = 0; offset < bytes.byteLength; offset += 0x2000)
    binary += String.fromCharCode(...bytes.subarray(offset, offset + 0x2000));
  return btoa(binary);
}

/** Line breaks in it are let pass, as mail and `base64` write them. null: it is none. */
export function fromBase64(text: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    // Not base64: the answer is the test's result.
    return null;
  }
}
