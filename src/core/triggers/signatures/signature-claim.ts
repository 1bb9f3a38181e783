/**
 * Verifies the claim of a request: which bytes were signed, and how. Each scheme reads its headers into a claim, and this file verifies all
 * claims the same way: whatever is missing or malformed, all secrets sign the body and all given signatures are compared, so that timing
 * reveals nothing (SEC-16).
 */
import { equalInConstantTime } from '../../constant-time.ts';
import type { Digests } from './hmac-keys.ts';
import type { SignedRequest, Verifier } from './verifier.ts';

/** Checked signatures of one header: a sender sends one per secret during a rotation; an attacker could send thousands. */
export const maxSignatures = 20;

export type SignatureClaim = {
  /** The signed content, in pieces. */
  signed: readonly (string | Uint8Array)[];
  /** The signatures as in the header; one of them must equal the output of `write`. */
  signatures: readonly string[];
  /** Why the request is rejected regardless of its signature; null: the signature decides. */
  fault: string | null;
};

/**
 * `write`: encodes a digest as the scheme writes signatures. The texts are compared, as in the reference libraries, so a different encoding
 * of the same bytes does not match.
 */
export type SignatureScheme = { read(request: SignedRequest): SignatureClaim; write(digest: Uint8Array): string };

export function createClaimVerifier(digests: Digests, { read, write }: SignatureScheme): Verifier {
  return async (request) => {
    const { signed, signatures, fault } = read(request);
    const expected = (await digests(signed)).map(write);
    const isSigned = isAnyEqual(expected, signatures);
    if (fault !== null) return { valid: false, reason: fault };
    return isSigned ? { valid: true } : { valid: false, reason: 'no signature matches the body and a secret of this webhook' };
  };
}

/** Returns a claim that fails. The body is still signed, because an early return would be visible in the timing. */
export function rejection(request: SignedRequest, fault: string): SignatureClaim {
  return { signed: [request.body], signatures: [], fault };
}

function isAnyEqual(expected: readonly string[], given: readonly string[]): boolean {
  let found = false;
  for (const mine of expected) {
    for (const theirs of given.slice(0, maxSignatures)) found = equalInConstantTime(mine, theirs) || found;
  }
  return found;
}
