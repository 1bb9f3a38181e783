/** HMAC with every key that may have signed (WebCrypto). Made for one webhook; not for making keys or for comparing. */
import { joinBytes } from '../../bytes.ts';

export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** One digest for each key, in their order; always all of them. */
export type Digests = (pieces: readonly (string | Uint8Array)[]) => Promise<Uint8Array[]>;

export function createDigests(algorithm: HmacAlgorithm, keys: readonly Uint8Array[]): Digests {
  // The keys themselves are kept, never the promise of them: one request's promise must not be what another waits for in a Worker.
  let imported: CryptoKey[] | null = null;
  return async (pieces) => {
    imported ??= await Promise.all(keys.map((key) => importKey(algorithm, key)));
    const message = bytesOf(pieces);
    return await Promise.all(imported.map(async (key) => new Uint8Array(await crypto.subtle.sign('HMAC', key, message))));
  };
}

/** The pieces one after the other; text as UTF-8. */
export function bytesOf(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return joinBytes(pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)));
}

async function importKey(algorithm: HmacAlgorithm, key: Uint8Array): Promise<CryptoKey> {
  const hash = { sha1: 'SHA-1', sha256: 'SHA-256', sha512: 'SHA-512' }[algorithm];
  return await crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash }, false, ['sign']);
}
