/**
 * Keys derived from `MONIKER_MASTER_KEY` by HKDF-SHA-256, one for each workspace and purpose, so that values sealed or signed for one
 * workspace are invalid in another. Used by `secret-box.ts`, `key-crypto.ts` and `signed-token.ts`.
 */
import { once } from '../../core/memoize.ts';
import { missingMasterKey } from '../../core/people/missing-keys.ts';
import { toHex } from '../../core/text/bytes.ts';

/** docs/credentials.md says of each whether something that it signs grants access, and when that ends. */
export const keyPurposes = [
  'secrets',
  'key-check',
  'key-hash',
  'approval-link',
  'request-state',
  'mcp-session',
  'sign-in',
  'browser-session',
  'browser-sign-in',
  'provider-file',
  'root-proof',
  'access-token',
  'oauth-client',
  'consent',
  'audit',
  'backup',
  'import',
] as const;
export type KeyPurpose = (typeof keyPurposes)[number];

export interface MasterKey {
  /** Returns 32 bits in hex that identify the master key and reveal nothing about it; derived for this purpose only. */
  id(): Promise<string>;
  /** Returns an AES-GCM key for `secrets`, an HMAC-SHA-256 key for other purposes. */
  derive(workspace: string, purpose: KeyPurpose): Promise<CryptoKey>;
  /** The key that this one replaces: what it sealed or signed is still accepted, and nothing new is made with it. */
  readonly previous: MasterKey | null;
}

/** The keys that a stored or presented value may have been made with, the current one first. */
export function readingKeys(master: MasterKey): readonly MasterKey[] {
  return master.previous === null ? [master] : [master, master.previous];
}

/** The methods throw `not_configured` without a master key. Derived keys are cached, because a derivation costs more than their use. */
export function createMasterKey(masterKey: string | null, previousKey: string | null = null): MasterKey {
  const derived = new Map<string, CryptoKey>();
  const root = once(async () => {
    if (masterKey === null) throw missingMasterKey();
    return await crypto.subtle.importKey('raw', encode(masterKey), 'HKDF', false, ['deriveKey', 'deriveBits']);
  });

  return {
    previous: previousKey === null || masterKey === null || previousKey === masterKey ? null : createMasterKey(previousKey),
    id: once(async () => toHex(new Uint8Array(await crypto.subtle.deriveBits(hkdf('id'), await root(), 32)))),
    derive: async (workspace, purpose) => {
      const info = JSON.stringify([workspace, purpose]);
      const known = derived.get(info);
      if (known !== undefined) return known;
      const key =
        purpose === 'secrets'
          ? await crypto.subtle.deriveKey(hkdf(info), await root(), { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
          : await crypto.subtle.deriveKey(hkdf(info), await root(), { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']);
      // Workspace names come from keys that are not verified yet, so the size of the cache is limited.
      if (derived.size >= maxDerivedKeys) derived.clear();
      derived.set(info, key);
      return key;
    },
  };
}

const maxDerivedKeys = 1_000;

/** Returns the HMAC-SHA-256 of a text or of bytes under the key of a workspace and purpose. */
export async function macOf(master: MasterKey, workspace: string, purpose: KeyPurpose, data: string | Uint8Array): Promise<Uint8Array> {
  const bytes = typeof data === 'string' ? encode(data) : data;
  return new Uint8Array(await crypto.subtle.sign('HMAC', await master.derive(workspace, purpose), bytes));
}

/** Returns the key that made an HMAC, for the reader's comparison in constant time; null if none of the accepted ones did. */
export async function macSigner(
  master: MasterKey,
  { workspace, purpose, data }: { workspace: string; purpose: KeyPurpose; data: string | Uint8Array },
  isEqual: (mac: Uint8Array) => boolean,
): Promise<MasterKey | null> {
  for (const key of readingKeys(master)) if (isEqual(await macOf(key, workspace, purpose, data))) return key;
  return null;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The salt separates this use of the master key from any other; HKDF needs none for keys of high entropy. */
function hkdf(info: string) {
  return { name: 'HKDF', hash: 'SHA-256', salt: encode('moniker/1'), info: encode(info) };
}
