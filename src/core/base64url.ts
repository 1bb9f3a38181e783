/**
 * base64url without padding (RFC 4648 §5), both directions. Decoding is strict: only the canonical text of the bytes is accepted,
 * anything else returns null.
 */

export function toBase64Url(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  // The unused bits after the last byte could differ without changing the bytes.
  return toBase64Url(bytes) === text ? bytes : null;
}
