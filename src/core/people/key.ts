/**
 * The format of an API key: `mk_<workspace>_<id>_<secret><check>` (contract §9). Pure; `storage/keys/key-crypto.ts` creates the random
 * parts, the check and the stored hash.
 */
import { limits } from '../limits/limits.ts';

/** Base62: 12 characters identify a key, 24 hold 142 bits of secret, 8 (47 bits) detect forged keys without a lookup. */
export const keyShape = { idLength: 12, secretLength: 24, checkLength: 8 } as const;

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type KeyParts = { workspace: string; id: string; secret: string };
export type ParsedKey = KeyParts & { check: string };

/** No part contains `_`, which separates the parts; no workspace contains `:`, which separates the parts of a storage key. */
const keyForm = new RegExp(
  `^mk_([a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?)_([0-9A-Za-z]{${keyShape.idLength}})_([0-9A-Za-z]{${keyShape.secretLength}})([0-9A-Za-z]{${keyShape.checkLength}})$`,
);

/** Returns the text that the check is computed over, which is also the beginning of the key. */
export function keyPayload({ workspace, id, secret }: KeyParts): string {
  return `mk_${workspace}_${id}_${secret}`;
}

/** Whether this is the id of a created key: other ids, such as `root`, are shorter, or have other characters. */
export function isIssuedKeyId(id: string): boolean {
  return id.length === keyShape.idLength && /^[0-9A-Za-z]+$/.test(id);
}

/** Returns the parts of a well-formed key; null for any other text. Does not check whether the key is valid. */
export function parseKey(text: string): ParsedKey | null {
  if (text.length > limits.maxKeyBytes) return null;
  const match = keyForm.exec(text);
  if (match === null) return null;
  const [, workspace = '', id = '', secret = '', check = ''] = match;
  return { workspace, id, secret, check };
}
