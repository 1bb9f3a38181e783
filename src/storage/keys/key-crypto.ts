/**
 * Creates and checks API keys (contract §9): random parts, the check that detects forged keys without I/O, and the keyed hash that is
 * stored instead of a key. The format is in `core/people/key.ts`.
 */
import { equalInConstantTime } from '../../core/constant-time.ts';
import { toHex } from '../../core/text/bytes.ts';
import { base62, type KeyParts, keyPayload, keyShape, type ParsedKey } from '../../core/people/key.ts';
import { macOf, type MasterKey } from './master-key.ts';

/** Creates a key for a workspace: the text to show once, its id, and the hash to store. `id`: of the key whose secret it replaces. */
export async function mintKey(master: MasterKey, workspace: string, id?: string): Promise<{ key: string; id: string; hash: string }> {
  const parts = { workspace, id: id ?? randomBase62(keyShape.idLength), secret: randomBase62(keyShape.secretLength) };
  const key = keyPayload(parts) + (await keyCheck(master, parts));
  return { key, id: parts.id, hash: await keyHash(master, parts) };
}

/** Returns the first of these master keys that made the key, compared in constant time; null if none did. */
export async function signerOfKey(masters: readonly MasterKey[], key: ParsedKey): Promise<MasterKey | null> {
  for (const master of masters) if (equalInConstantTime(await keyCheck(master, key), key.check)) return master;
  return null;
}

/** Returns the HMAC-SHA-256 of the key in hex. Without the master key, a stolen table can neither be used nor searched by guessing. */
export async function keyHash(master: MasterKey, parts: KeyParts): Promise<string> {
  return toHex(await macOf(master, parts.workspace, 'key-hash', keyPayload(parts)));
}

async function keyCheck(master: MasterKey, parts: KeyParts): Promise<string> {
  const digest = await macOf(master, parts.workspace, 'key-check', keyPayload(parts));
  // 62 does not divide 256. The slight bias costs a fraction of a bit of a check that only saves I/O.
  return Array.from(digest.subarray(0, keyShape.checkLength), (byte) => base62[byte % 62]).join('');
}

/** Returns uniformly random characters: bytes from 248 (62 × 4) up are skipped. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < 248 && text.length < length) text += base62[byte % 62];
    }
  }
  return text;
}
