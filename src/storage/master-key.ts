/**
 * Keys derived from `MONIKER_MASTER_KEY` by HKDF-SHA-256: one for each workspace and purpose, so that what is sealed or
 * signed for one workspace means nothing in another. Used by `secret-box.ts`, `key-crypto.ts`, `approval-link.ts` and `sign-in-state.ts`.
 */
import { toHex } from '../core/hex.ts';
import { Problem } from '../core/problem.ts';

export type KeyPurpose = 'secrets' | 'key-check' | 'key-hash' | 'approval-link' | 'request-state' | 'mcp-session' | 'sign-in';

export interface MasterKey {
  /** 32 bits in hex, derived for nothing else: tells which master key sealed something, and nothing about it. */
  id(): Promise<string>;
  /** AES-GCM for `secrets`, HMAC-SHA-256 for the others. */
  derive(workspace: string, purpose: KeyPurpose): Promise<CryptoKey>;
}

/** `not_configured` when there is no master key. Derived keys are kept: a derivation costs more than what it is used for. */
export function createMasterKey(masterKey: string | null): MasterKey {
  // Values are kept, not promises: a promise belongs to the request that made it, and may end with it.
  const derived = new Map<string, CryptoKey>();
  let material: CryptoKey | null = null;
  let id: string | null = null;

  const root = async (): Promise<CryptoKey> => {
    if (masterKey === null) throw missingMasterKey();
    material ??= await crypto.subtle.importKey('raw', encode(masterKey), 'HKDF', false, ['deriveKey', 'deriveBits']);
    return material;
  };

  return {
    id: async () => {
      id ??= toHex(new Uint8Array(await crypto.subtle.deriveBits(hkdf('id'), await root(), 32)));
      return id;
    },
    derive: async (workspace, purpose) => {
      const info = JSON.stringify([workspace, purpose]);
      const known = derived.get(info);
      if (known !== undefined) return known;
      const key =
        purpose === 'secrets'
          ? await crypto.subtle.deriveKey(hkdf(info), await root(), { name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
          : await crypto.subtle.deriveKey(hkdf(info), await root(), { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']);
      // Workspaces come from keys whose check is yet to be verified: the table may not grow with them.
      if (derived.size >= maxDerivedKeys) derived.clear();
      derived.set(info, key);
      return key;
    },
  };
}

const maxDerivedKeys = 1_000;

export function missingMasterKey(): Problem {
  return new Problem(
    'not_configured',
    'Keys and secrets need MONIKER_MASTER_KEY: set it with `wrangler secret put MONIKER_MASTER_KEY` (32 or more random characters), or let `npm start` make one.',
  );
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The salt only separates this use of the master key from any other; HKDF needs none for keys of high entropy. */
function hkdf(info: string) {
  return { name: 'HKDF', hash: 'SHA-256', salt: encode('moniker/1'), info: encode(info) };
}
