/**
 * Verifies the signature of a delivery (SEC-16). Each scheme reads its headers into a claim, and this file verifies all claims the same way:
 * whatever is missing or malformed, all secrets sign the body and all given signatures are compared, so that timing reveals nothing.
 */
import { equalInConstantTime } from '../constant-time.ts';
import { joinBytes } from '../text/bytes.ts';

/** Headers by lower-case name; repeated headers are joined by `, `. */
export type SignedContent = { header(name: string): string | null; body: Uint8Array };

/** `now`: milliseconds since the epoch. */
export type SignedRequest = SignedContent & { now: number };

/** `reason` is for the log; the sender only learns that the request was rejected. */
export type SignatureVerdict = { valid: true } | { valid: false; reason: string };

/** Works on the raw bytes. Takes as long for a missing or wrong signature as for a valid one. Never throws because of the request. */
export type Verifier = (request: SignedRequest) => Promise<SignatureVerdict>;

/** Checked signatures of one header: a sender sends one per secret during a rotation; an attacker could send thousands. */
export const maxSignatures = 20;

export type SignatureClaim = {
  /** The signatures as in the header; one of them must equal the output of `write`. */
  signatures: readonly string[];
  /** Why the request is rejected regardless of its signature; null: the signature decides. */
  fault: string | null;
};

export type SignatureScheme = {
  /** The signed content, in pieces. */
  signed(content: SignedContent): (string | Uint8Array)[];
  read(request: SignedRequest): SignatureClaim;
  /**
   * Encodes a digest as the scheme writes signatures. The texts are compared, as in the reference libraries, so a different encoding of the
   * same bytes does not match.
   */
  write(digest: Uint8Array): string;
  /** The headers of a delivery, by lower-case name. `signature`: of `write`, or `''` for what is signed. */
  headers(delivery: SentHead & { signature: string }): Record<string, string>;
};

/** `seconds`: when it is sent. */
export type SentHead = { id: string; seconds: string };

export function createClaimVerifier(digests: Digests, scheme: SignatureScheme): Verifier {
  return async (request) => {
    const { signatures, fault } = scheme.read(request);
    // The content is signed whatever is missing, because an early return would be visible in the timing.
    const expected = (await digests(scheme.signed(request))).map(scheme.write);
    const isSigned = isAnyEqual(expected, signatures);
    if (fault !== null) return { valid: false, reason: fault };
    return isSigned ? { valid: true } : { valid: false, reason: 'no signature matches the body and a secret of this webhook' };
  };
}

/** Returns a claim that fails. */
export function rejection(fault: string): SignatureClaim {
  return { signatures: [], fault };
}

function isAnyEqual(expected: readonly string[], given: readonly string[]): boolean {
  let found = false;
  for (const mine of expected) {
    for (const theirs of given.slice(0, maxSignatures)) found = equalInConstantTime(mine, theirs) || found;
  }
  return found;
}

type HmacAlgorithm = 'sha1' | 'sha256' | 'sha512';

/** Returns one HMAC digest per key, in the order of the keys. */
type Digests = (pieces: readonly (string | Uint8Array)[]) => Promise<Uint8Array[]>;

export function createDigests(algorithm: HmacAlgorithm, keys: readonly Uint8Array[]): Digests {
  // Stores the keys and not their promise, since in a Worker one request must not wait for another request's promise.
  let imported: CryptoKey[] | null = null;
  return async (pieces) => {
    imported ??= await Promise.all(keys.map((key) => importKey(algorithm, key)));
    const message = concatenate(pieces);
    return await Promise.all(imported.map(async (key) => new Uint8Array(await crypto.subtle.sign('HMAC', key, message))));
  };
}

/** Concatenates the pieces; text as UTF-8. */
export function concatenate(pieces: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  return joinBytes(pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)));
}

async function importKey(algorithm: HmacAlgorithm, key: Uint8Array): Promise<CryptoKey> {
  const hash = { sha1: 'SHA-1', sha256: 'SHA-256', sha512: 'SHA-512' }[algorithm];
  return await crypto.subtle.importKey('raw', new Uint8Array(key), { name: 'HMAC', hash }, false, ['sign']);
}

/** Maximum difference between a signed time and ours, in both directions (Standard Webhooks, Slack, Stripe: 5 minutes). */
export const webhookToleranceSeconds = 300;

/**
 * Returns why the time is rejected; null: valid. Accepts canonical decimal integers only: the text itself is signed, and parsing
 * `1614265330.5` or `0x6037bbf2` as a number would check a different time.
 */
export function timeFault(text: string | null, now: number): string | null {
  if (text === null || text === '') return 'the time of sending is missing';
  if (!/^(?:0|[1-9][0-9]{0,14})$/.test(text)) return 'the time of sending is not a number of seconds';
  const age = Math.floor(now / 1000) - Number(text);
  if (age > webhookToleranceSeconds) return `it was sent ${age} s ago; at most ${webhookToleranceSeconds} s are accepted`;
  if (age < -webhookToleranceSeconds)
    return `its time is ${-age} s ahead of the clock of this service; at most ${webhookToleranceSeconds} s are accepted`;
  return null;
}
