/**
 * The key of a Standard Webhooks secret: `whsec_` and base64, as the specification has it. Any other text, which a secret of another
 * scheme is, is a key by its bytes.
 */
const standard = /^whsec_(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function signingKey(secret: string): Uint8Array {
  if (!standard.test(secret)) return new TextEncoder().encode(secret);
  return Uint8Array.from(atob(secret.slice('whsec_'.length)), (character) => character.charCodeAt(0));
}
