/**
 * Returns the keys that a Standard Webhooks secret signs with. `whsec_` and base64 is one key, as specified. Any other text, such as the
 * secret of another scheme, is a key by its bytes. If it is also valid base64, the reference libraries decode it (standardwebhooks: `new
 * Webhook('MfKQ…')`), so messages are signed with both keys: `webhook-signature` holds a list.
 */
import { fromBase64 } from '../../text/bytes.ts';

const base64 = /^(?=.)(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export function signingKeys(secret: string): Uint8Array[] {
  if (secret.startsWith('whsec_')) return [base64Key(secret.slice('whsec_'.length)) ?? bytesOf(secret)];
  const decoded = base64Key(secret);
  return decoded === null ? [bytesOf(secret)] : [decoded, bytesOf(secret)];
}

function base64Key(text: string): Uint8Array | null {
  return base64.test(text) ? fromBase64(text) : null;
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
