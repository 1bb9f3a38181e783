/**
 * Making and checking API keys (DESIGN §9): random parts, the check that tells forged keys with no I/O, and the keyed hash
 * that is stored in a key's stead. The form itself is `core/key.ts`.
 */
import { equalInConstantTime } from '../core/constant-time.ts';
import { toHex } from '../core/hex.ts';
import { base62, keyPayload, keyShape } from '../core/key.ts';
import type { KeyParts, ParsedKey } from '../core/key.ts';
import type { MasterKey } from './master-key.ts';

/** A new key for a workspace: the text to show once, its id, and the hash to store. */
export async function mintKey(master: MasterKey, workspace: string): Promise<{ key: string; id: string; hash: string }> {
  const parts = { workspace, id: randomBase62(keyShape.idLength), secret: randomBase62(keyShape.secretLength) };
  const key = keyPayload(parts) + (await keyCheck(master, parts));
  return { key, id: parts.id, hash: await keyHash(master, parts) };
}

/** Whether the master key made this key. Constant time. */
export async function isGenuine(master: MasterKey, key: ParsedKey): Promise<boolean> {
  return equalInConstantTime(await keyCheck(master, key), key.check);
}

/** HMAC-SHA-256 of the key, in hex: a stolen table can neither be used nor searched by guessing without the master key. */
export async function keyHash(master: MasterKey, parts: KeyParts): Promise<string> {
  return toHex(await hmac(await master.derive(parts.workspace, 'key-hash'), keyPayload(parts)));
}

async function keyCheck(master: MasterKey, parts: KeyParts): Promise<string> {
  const digest = await hmac(await master.derive(parts.workspace, 'key-check'), keyPayload(parts));
  // 62 does not divide 256: the slight bias costs a fraction of a bit of a value that protects nothing but I/O.
  return Array.from(digest.subarray(0, keyShape.checkLength), (byte) => base62[byte % 62]).join('');
}

async function hmac(key: CryptoKey, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)));
}

/** Uniform: bytes of 248 and above are drawn again, since 62 × 4 = 248. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}
