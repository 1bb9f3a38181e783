/**
 * A sender that only shows the secret: `Authorization: Bearer <secret>` (RFC 6750 §2.1, the scheme in any case), or a header that holds
 * nothing else (GitLab's `x-gitlab-token`). Nothing is signed, so nothing speaks for the body but the connection.
 */
import { equalInConstantTime } from '../../constant-time.ts';
import { sha256Hex } from '../../hash.ts';
import type { BearerSettings } from '../webhook.ts';
import { createDigests } from './hmac-keys.ts';
import type { SignedRequest, Verifier } from './verifier.ts';

/** Absent settings: `Authorization`. */
export function createBearerVerifier(settings: BearerSettings | undefined, secrets: readonly string[]): Verifier {
  const header = settings?.header ?? 'authorization';
  // The body is not signed, but costs what it costs elsewhere: the time does not tell the scheme, nor whether there is such a webhook.
  const spend = createDigests('sha256', [new Uint8Array(32)]);
  return async (request) => {
    const given = tokenOf(request, header);
    // Hashes are compared, not the texts: they are of one length, whatever was given.
    const [found, ...expected] = await Promise.all([given ?? '', ...secrets].map(sha256Hex));
    await spend([request.body]);
    let isKnown = false;
    for (const hash of expected) isKnown = equalInConstantTime(hash, found ?? '') || isKnown;
    if (given === null) return { valid: false, reason: `${header} is missing or holds no secret` };
    return isKnown ? { valid: true } : { valid: false, reason: `${header} does not hold a secret of this webhook` };
  };
}

function tokenOf({ header }: SignedRequest, name: string): string | null {
  const value = header(name);
  if (value === null || value === '') return null;
  if (name !== 'authorization') return value;
  return /^bearer +(\S.*)$/i.exec(value)?.[1] ?? null;
}
