/**
 * Sealing and opening secret values (contract §7, §11): AES-256-GCM with the workspace's key, a random nonce for each value,
 * and workspace, kind and name as additional data, so that a stored value moved to another place does not open.
 * Form: `1.<master key id>.<nonce>.<ciphertext>`, the last two in base64.
 */
import { fromBase64, toBase64 } from '../../core/text/bytes.ts';
import { Problem } from '../../core/problem.ts';
import { type MasterKey, readingKeys } from './master-key.ts';

/** The owner of a value, which is bound into the seal. */
export type SealedFor = {
  workspace: string;
  kind: 'secret' | 'provider' | 'grant' | 'connection' | 'webhook' | 'schedule' | 'subscription' | 'retired-keys';
  name: string;
};

export async function sealValue(master: MasterKey, place: SealedFor, value: string): Promise<string> {
  const key = await master.derive(place.workspace, 'secrets');
  const nonce = crypto.getRandomValues(new Uint8Array(12));
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: nonce, additionalData: additionalData(place) },
    key,
    new TextEncoder().encode(value),
  );
  return [sealFormat, await master.id(), toBase64(nonce), toBase64(new Uint8Array(ciphertext))].join('.');
}

/** Returns the value. Throws `not_configured` when it was sealed under a master key that is not set, `internal` when it was tampered with. */
export async function openValue(master: MasterKey, place: SealedFor, sealed: string): Promise<string> {
  const [format, keyId, nonce = '', ciphertext = ''] = sealed.split('.');
  if (format !== sealFormat) throw new Problem('internal', `The stored ${place.kind} "${place.name}" has an unknown format.`);
  const sealer = await sealerOf(master, keyId);
  if (sealer === null) {
    throw new Problem(
      'not_configured',
      `The ${place.kind} "${place.name}" was stored under another MONIKER_MASTER_KEY. Set MONIKER_MASTER_KEY_PREVIOUS to that key, or PUT the ${place.kind} again.`,
    );
  }
  const key = await sealer.derive(place.workspace, 'secrets');
  try {
    const plain = await crypto.subtle.decrypt(
      { name: 'AES-GCM', iv: fromBase64(nonce) ?? new Uint8Array(), additionalData: additionalData(place) },
      key,
      fromBase64(ciphertext) ?? new Uint8Array(),
    );
    return new TextDecoder().decode(plain);
  } catch (cause) {
    throw new Problem('internal', `The stored ${place.kind} "${place.name}" cannot be decrypted: it was changed or moved.`, {}, { cause });
  }
}

/** Returns whether the current key sealed the value. */
export async function isSealedBy(master: MasterKey, sealed: string): Promise<boolean> {
  return sealed.startsWith(`${sealFormat}.${await master.id()}.`);
}

async function sealerOf(master: MasterKey, keyId: string | undefined): Promise<MasterKey | null> {
  for (const key of readingKeys(master)) if ((await key.id()) === keyId) return key;
  return null;
}

const sealFormat = '1';

function additionalData({ workspace, kind, name }: SealedFor): Uint8Array {
  return new TextEncoder().encode(JSON.stringify([workspace, kind, name]));
}
