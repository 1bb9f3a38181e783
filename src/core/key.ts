/**
 * The form of an API key: `mk_<workspace>_<id>_<secret><check>` (DESIGN §9). Pure: making the random parts, the check and
 * the stored hash is `storage/key-crypto.ts`.
 */
import { limits } from './limits.ts';

/** Base62: 12 characters name a key, 24 are 142 bits of secret, 8 (47 bits) tell forged keys without asking anyone. */
export const keyShape = { idLength: 12, secretLength: 24, checkLength: 8 } as const;

export const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type KeyParts = { workspace: string; id: string; secret: string };
export type ParsedKey = KeyParts & { check: string };

/** No part holds `_`, which separates them; no workspace holds `:`, which separates the parts of a storage key. */
const keyForm = new RegExp(
  `^mk_([a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?)_([0-9A-Za-z]{${keyShape.idLength}})_([0-9A-Za-z]{${keyShape.secretLength}})([0-9A-Za-z]{${keyShape.checkLength}})$`,
);

/** What the check is computed over, and the beginning of the key. */
export function keyPayload({ workspace, id, secret }: KeyParts): string {
  return `mk_${workspace}_${id}_${secret}`;
}

/** The parts of a well-formed key; null for every other text. Says nothing about whether it is valid. */
export function parseKey(text: string): ParsedKey | null {
  if (text.length > limits.maxKeyBytes) return null;
  const match = keyForm.exec(text);
  if (match === null) return null;
  const [, workspace = '', id = '', secret = '', check = ''] = match;
  return { workspace, id, secret, check };
}
