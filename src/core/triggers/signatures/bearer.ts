/**
 * A sender that only sends the secret: `Authorization: Bearer <secret>` (RFC 6750 §2.1, the scheme in any case), or a header that contains
 * only the secret (GitLab's `x-gitlab-token`). The body is not signed.
 */
import { equalInConstantTime } from '../../constant-time.ts';
import { sha256Hex } from '../../hash.ts';
import type { BearerSettings } from '../webhook.ts';
import { createDigests } from './hmac-keys.ts';
import type { SignedRequest, Verifier } from './verifier.ts';

/** Absent settings: `Authorization`. */
export function createBearerVerifier(settings: BearerSettings | undefined, secrets: readonly string[]): Verifier {
  const header = settings?.header ?? 'authorization';
  // Hashes the body as the other schemes do, so that timing reveals neither the scheme nor whether the webhook exists.
  const hashBody = createDigests('sha256', [new Uint8Array(32)]);
  return async (request) => {
    const given = tokenOf(request, header);
    // Compares hashes, which all have one length, instead of the secrets.
    const [found, ...expected] = await Promise.all([given ?? '', ...secrets].map(sha256Hex));
    await hashBody([request.body]);
    let isKnown = false;
    for (const hash of expected) isKnown = equalInConstantTime(hash, found ?? '') || isKnown;
    if (given === null) return { valid: false, reason: `${header} is missing or contains no secret` };
    return isKnown ? { valid: true } : { valid: false, reason: `${header} does not contain a secret of this webhook` };
  };
}

function tokenOf({ header }: SignedRequest, name: string): string | null {
  const value = header(name);
  if (value === null || value === '') return null;
  if (name !== 'authorization') return value;
  return /^bearer +(\S.*)$/i.exec(value)?.[1] ?? null;
}
