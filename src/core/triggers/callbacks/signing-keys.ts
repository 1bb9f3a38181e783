/**
 * What a Standard Webhooks secret signs with. `whsec_` and base64 is one key, as the specification has it. Any other text, which a secret of
 * another scheme is, is a key by its bytes; if it happens to be base64 as well, the reference libraries read it so
 * (standardwebhooks: `new Webhook('MfKQ…')`), hence it is two keys, and a message is signed with each: `webhook-signature` holds a list.
 */
const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function signingKeys(secret: string): Uint8Array[] {
  if (secret.startsWith('whsec_')) return [base64Key(secret.slice('whsec_'.length)) ?? bytesOf(secret)];
  const decoded = base64Key(secret);
  return decoded === null ? [bytesOf(secret)] : [decoded, bytesOf(secret)];
}

function base64Key(text: string): Uint8Array | null {
  return base64.test(text) ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : null;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
