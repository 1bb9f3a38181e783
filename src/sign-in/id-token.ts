/** Verifies signed tokens of identity providers with their published keys (JWKS): ID tokens of OpenID Connect, and those of Cloudflare Access. */
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { getOrBuild } from '../core/memoize.ts';
import { readEmail } from '../core/person.ts';
import { Problem } from '../core/problem.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import { exchange, type Identity, refused } from './exchange.ts';

/** Signatures with a public key only: `none`, and HMAC with a public key as its secret, are never accepted. */
const algorithms = ['RS256', 'ES256', 'EdDSA', 'Ed25519'];
const clockToleranceSeconds = 60;
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
        ...{ algorithms, issuer, audience, currentDate: new Date(now()), clockTolerance: clockToleranceSeconds },
        requiredClaims: ['exp', 'iat', 'sub'],
      });
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
