/** Verifies signed tokens of identity providers with their published keys (JWKS): ID tokens of OpenID Connect, and those of Cloudflare Access. */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { getOrBuild } from '../core/memoize.ts';
import { readEmail } from '../core/people/person.ts';
import { Problem } from '../core/problem.ts';
import { clockSkewMs } from '../core/people/token-times.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import { exchange, type Identity, refused } from './exchange.ts';

/** Signatures with a public key only: `none`, and HMAC with a public key as its secret, are never accepted. */
const algorithms = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
/** Longer than any provider's tokens; an expiry in milliseconds is later. */
const maxIssuedLifetimeMs = 366 * 24 * 60 * 60_000;
const maxKeySets = 20;
/** A token with an unknown key loads the keys again, at most once in this time. */
const keysCooldownMs = 30_000;

export function createTokenVerifier(outbound: OutboundHttp, now: () => number) {
  const keySets = new Map<string, JWTVerifyGetKey>();
  const keysAt = (url: string): JWTVerifyGetKey =>
    getOrBuild(keySets, url, maxKeySets, () =>
      createRemoteJWKSet(new URL(url), {
        cooldownDuration: keysCooldownMs,
        [customFetch]: (target, init) => exchange(outbound, new Request(target, { headers: init.headers })),
      }),
    );

  /** Throws `forbidden` if the token is not valid here. */
  return async (token: string, expected: { keysUrl: string; issuer: string; audience: string }): Promise<JWTPayload> => {
    const { keysUrl, issuer, audience } = expected;
    try {
      const { payload } = await jwtVerify(token, keysAt(keysUrl), {
        ...{ algorithms, issuer, audience, currentDate: new Date(now()), clockTolerance: clockSkewMs / 1_000 },
        requiredClaims: ['exp', 'iat', 'sub'],
      });
      const fault = issuedTimesFault(payload, now());
      if (fault !== null) throw refused(`the token of the identity provider is not valid: its ${fault}`);
      return payload;
    } catch (error) {
      if (error instanceof Problem) throw error;
      // The text of the library names the claim, not its value.
      if (error instanceof errors.JOSEError)
        throw refused(`the token of the identity provider is not valid (${error.code}: ${error.message})`);
      throw error;
    }
  };
}

/** Returns who the claims name. `isVerified`: the issuer vouches for every email, so that no claim says it. */
export function identityOf({ email, email_verified: verified, name }: JWTPayload, isVerified = false): Identity {
  const address = typeof email === 'string' ? readEmail(email) : null;
  if (address === null) throw refused('the identity provider named no email address, or one that is not in ASCII');
  if (!isVerified && verified !== true) throw refused('the identity provider has not verified your email address');
  return { email: address, name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : null };
}

/** Claims of a JWT: numbers of seconds, which may have fractions (RFC 7519 §2). */
type IssuedTimes = { iat?: unknown; nbf?: unknown; exp?: unknown };

/** Returns why a token that someone else issued is not valid at this time; null: it is. `nbf` may be absent. */
function issuedTimesFault({ iat, nbf = iat, exp }: IssuedTimes, now: number): string | null {
  const [issuedAt, validFrom, validUntil] = [readSeconds(iat), readSeconds(nbf), readSeconds(exp)];
  if (issuedAt === null) return '`iat` is not a time';
  if (validFrom === null) return '`nbf` is not a time';
  if (validUntil === null) return '`exp` is not a time';
  if (issuedAt > now + clockSkewMs) return '`iat` is in the future';
  if (validFrom > now + clockSkewMs) return '`nbf` is in the future';
  if (validUntil <= now - clockSkewMs) return '`exp` is in the past';
  if (validUntil < issuedAt) return '`exp` is before `iat`';
  return validUntil - issuedAt > maxIssuedLifetimeMs ? '`exp` is more than a year after `iat`' : null;
}

/** Returns milliseconds; null if the value is no time since 1970. */
function readSeconds(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value * 1_000) ? value * 1_000 : null;
}
