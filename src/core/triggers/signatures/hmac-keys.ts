/** Computes HMAC digests with all keys of a webhook (WebCrypto). */
import { joinBytes } from '../../text/bytes.ts';

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** Returns one digest per key, in the order of the keys. */
export type Digests = (pieces: readonly (string | Uint8Array)[]) => Promise<Uint8Array[]>;

export function createDigests(algorithm: HmacAlgorithm, keys: readonly Uint8Array[]): Digests {
  // Stores the keys and not their promise, since in a Worker one request must not wait for another request's promise.
  let imported: CryptoKey[] | null = null;
  return async (pieces) => {
    imported ??= await Promise.all(keys.map((key) => importKey(algorithm, key)));
    const message = decodeSignature(pieces);
    return await Promise.all(imported.map(async (key) => new Uint8Array(await crypto.subtle.sign('HMAC', key, message))));
  };
}

/** Concatenates the pieces; text as UTF-8. */
export function decodeSignature(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return joinBytes(pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)));
}

async function importKey(algorithm: HmacAlgorithm, key: Uint8Array): Promise<CryptoKey> {
  const hash = { sha1: 'SHA-1', sha256: 'SHA-256', sha512: 'SHA-512' }[algorithm];
  return await crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash }, false, ['sign']);
}
