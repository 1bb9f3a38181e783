/**
 * What a request claims: these bytes, signed so. Each scheme reads its headers into a claim; here every claim is judged the same way, so that
 * no scheme can leave early. Whatever is missing or malformed, all secrets sign the body and all given signatures are compared (SEC-16).
 */
import { equalInConstantTime } from '../../constant-time.ts';
import { limits } from '../../limits.ts';
import type { Digests } from './hmac-keys.ts';
import type { SignedRequest, Verifier } from './verifier.ts';

export type Claim = {
  /** What was signed, in pieces. */
  signed: readonly (string | Uint8Array)[];
  /** Texts as the header holds them; one of them must be what `write` makes of a digest. */
  signatures: readonly string[];
  /** Why it is refused whoever signed it; null: the signature decides. */
  fault: string | null;
};

/** `write`: a digest as the scheme writes signatures. Text is compared, as the reference libraries do: what decodes alike is not alike. */
export type Scheme = { read(request: SignedRequest): Claim; write(digest: Uint8Array): string };

export function createClaimVerifier(digests: Digests, { read, write }: Scheme): Verifier {
  return async (request) => {
    const { signed, signatures, fault } = read(request);
    const expected = (await digests(signed)).map(write);
    const isSigned = isAnyEqual(expected, signatures);
    if (fault !== null) return { valid: false, reason: fault };
    return isSigned ? { valid: true } : { valid: false, reason: 'no signature is right for the body and a secret of this webhook' };
  };
}

/** Whatever is wrong with a request, its body is signed all the same: a short way out would be seen in the time. */
export function faulty(request: SignedRequest, fault: string): Claim {
  return { signed: [request.body], signatures: [], fault };
}

function isAnyEqual(expected: readonly string[], given: readonly string[]): boolean {
  let found = false;
  for (const mine of expected) {
    for (const theirs of given.slice(0, limits.maxSignatures)) found = equalInConstantTime(mine, theirs) || found;
  }
  return found;
}
