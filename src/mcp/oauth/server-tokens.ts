/**
 * Access tokens of one server for callers: from memory, otherwise from the stored grant, otherwise new ones. Only one isolate renews at a
 * time and marks this in the grant first, because using a refresh token twice ends the sign-in at issuers that rotate them (OAuth 2.1
 * §4.3.1); the others poll until new tokens are stored. User sign-ins start in `sign-in.ts`.
 */
import { computeScopeUnion, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { Loaded, TimedCache } from '../../platform/timed-cache.ts';
import type { ServerTokens } from '../../ports/upstream.ts';
import { type OAuthContext, oauthErrorOf } from './exchange.ts';
import { discoverIssuer, isUnknown, issuerId, readChallenge, scopeToRequest, type Challenge } from './discover.ts';
import {
  freshUntil,
  type Grant,
  type Hint,
  type Issuer,
  type Tokens,
  changeGrant,
  readStoredGrant,
  sharedBy,
  writeGrant,
} from './grant.ts';
import { tokensByClient, tokensByRefresh } from './request-tokens.ts';

/** Poll interval while waiting for these tokens. */
const tokenWaitMs = 200;
/** Cache time in an isolate: a token revoked elsewhere is no longer sent after this. */
const tokenTtlMs = 60_000;
/** A server that refuses a token younger than this would refuse a new one as well. */
const minTokenAgeMs = 3_000;

/** Access tokens in the memory of an isolate, so that a call needs no Catalog request. null: not signed in. */
export type TokenCache = TimedCache<string | null>;

/** `key`: unique in `cache` for this server and workspace. */
export function createServerTokens(context: OAuthContext, cache: TokenCache, key: string): ServerTokens {
  const obtain = async (wish: Wish): Promise<Loaded<string | null>> => {
    const tokens = await currentTokens(context, wish);
    // Not signed in: cached briefly, because the user may sign in through another isolate.
    if (tokens === null) return { value: null, ttlMs: limits.missTtlMs };
    return { value: tokens.accessToken, ttlMs: Math.min(tokenTtlMs, freshUntil(tokens) - context.clock.now()) };
  };
  /** Calls that were refused together share one renewal, whose result replaces the cached token. */
  const renew = async (wish: Wish): Promise<Loaded<string | null>> => {
    const renewed = await obtain(wish);
    cache.invalidate(key);
    return { value: await cache.load(key, async () => renewed), ttlMs: 0 };
  };

  return {
    token: () => cache.load(key, () => obtain({ refused: null, challenge: null })),
    async refreshAfterRejection(refused, header) {
      const challenge = readChallenge(header);
      cache.invalidate(key);
      // Only the user can consent to more scopes.
      if (challenge?.isInsufficientScope === true && context.server.oauth.grant === 'authorization_code') {
        await keepHint(context, challenge);
        return false;
      }
      const wish = { refused, challenge: challenge ?? noChallenge };
      const token = await cache.load(JSON.stringify([key, wish]), () => renew(wish));
      return token !== null && token !== refused;
    },
  };
}

/** `challenge` null: the server rejected nothing, so fresh tokens suffice. */
type Wish = { refused: string | null; challenge: Challenge | null };

const noChallenge: Challenge = { resourceMetadataUrl: null, scope: null, isInsufficientScope: false };

/** Returns the stored tokens if they suffice, otherwise new ones. Returns null if no tokens exist or if the server rejected all of them. */
async function currentTokens(context: OAuthContext, wish: Wish): Promise<Tokens | null> {
  const { clock, server } = context;
  if (wish.challenge !== null) await keepHint(context, wish.challenge);
  const deadline = clock.now() + limits.tokenRenewalMs;
  for (;;) {
    const now = clock.now();
    const { grant, revision } = await readStoredGrant(context);
    const { tokens } = grant;
    if (tokens !== null && tokens.accessToken !== wish.refused && now < freshUntil(tokens)) return tokens;
    if (!canRenew(context, grant, wish, now)) return null;
    if (grant.renewedUntil !== null && grant.renewedUntil > now) {
      if (now >= deadline) {
        throw new Problem('upstream_timeout', `Timed out waiting for new tokens for ${server.name}.`, { retryable: true });
      }
      await clock.sleep(tokenWaitMs);
      continue;
    }
    if (!(await writeGrant(context, { ...grant, renewedUntil: now + limits.tokenRenewalMs }, revision))) continue;
    const renewed = await renewMarkedGrant(context, grant, wish, revision + 1);
    if (renewed !== 'again') return renewed;
  }
}

/** `client_credentials` can always renew, unless its tokens are brand new; other grants need a refresh token. */
function canRenew({ server }: OAuthContext, { tokens }: Grant, { refused, challenge }: Wish, now: number): boolean {
  if (tokens === null) return server.oauth.grant === 'client_credentials';
  const isStepUp = challenge?.isInsufficientScope === true;
  if (isStepUp && !isStrictScopeSuperset(challenge.scope ?? undefined, tokens.scope ?? undefined)) return false;
  const isRefusedAtOnce = tokens.accessToken === refused && now - tokens.obtainedAt < minTokenAgeMs;
  if (isRefusedAtOnce && !isStepUp) return false;
  return server.oauth.grant === 'client_credentials' || tokens.refreshToken !== null;
}

/** This isolate marked the renewal in the grant, at `revision`. `again`: the user signed in or out meanwhile, which takes precedence. */
async function renewMarkedGrant(context: OAuthContext, grant: Grant, wish: Wish, revision: number): Promise<Tokens | null | 'again'> {
  let after: Pick<Grant, 'tokens' | 'lost'> = grant;
  try {
    after = await newTokens(context, grant, wish);
  } catch (error) {
    await writeGrant(context, { ...grant, renewedUntil: null }, revision);
    throw toIssuerError(error);
  }
  const isKept = await writeGrant(context, { ...grant, ...after, renewedUntil: null }, revision);
  return isKept ? after.tokens : 'again';
}

/** A rejection by the issuer is an authorization error; any other error is an upstream error. */
function toIssuerError(error: unknown): unknown {
  if (!(error instanceof Problem) || oauthErrorOf(error) === null) return error;
  return new Problem(error.code, error.detail, { ...error.extra, unauthorized: true });
}

async function newTokens(context: OAuthContext, grant: Grant, wish: Wish): Promise<Pick<Grant, 'tokens' | 'lost'>> {
  const { tokens, hint } = grant;
  const { oauth } = context.server;
  const issuer = await issuerNow(context, grant, wish);
  if (oauth.grant === 'client_credentials') {
    // If no issuer is known, the server is called without a token first: its challenge names one.
    if (oauth.clientId === undefined || (isUnknown(issuer) && wish.challenge === null)) return { tokens: null, lost: null };
    const scope = scopeOfClient(context, issuer, tokens, hint, wish);
    return { tokens: await tokensByClient(context, issuer, { client_id: oauth.clientId }, scope), lost: null };
  }
  if (tokens === null || tokens.refreshToken === null) return { tokens: null, lost: 'expired' };
  if (issuerId(issuer) !== issuerId(tokens.issuer)) return forgetTokens(context, 'issuer_changed');
  try {
    return { tokens: await tokensByRefresh(context, tokens, tokens.refreshToken), lost: null };
  } catch (error) {
    const refusal = oauthErrorOf(error);
    if (refusal === null || !final.has(refusal)) throw error;
    return forgetTokens(context, refusal);
  }
}

/** RFC 6749 §5.2: permanent errors. */
const final: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

function forgetTokens({ log, server }: OAuthContext, reason: string): Pick<Grant, 'tokens' | 'lost'> {
  log.info('sign-in expired', { server: server.name, reason });
  return { tokens: null, lost: reason };
}

/** Returns the issuer that gave the tokens; after a rejection it is discovered again, since the server may use another one now. */
async function issuerNow(context: OAuthContext, { tokens, hint }: Grant, { challenge }: Wish): Promise<Issuer> {
  if (tokens === null) return await discoverIssuer(context, hint);
  if (challenge === null || challenge.isInsufficientScope) return tokens.issuer;
  // Only the workspace's grant has a hint.
  const found = await discoverIssuer(context, hint ?? challenge);
  // Metadata that temporarily fails to load does not mean another issuer.
  return found.resource === null && tokens.issuer.resource !== null ? tokens.issuer : found;
}

/** Returns the granted scopes and those that the server additionally requires. */
function scopeOfClient(
  context: OAuthContext,
  issuer: Issuer,
  tokens: Tokens | null,
  hint: Hint | null,
  { challenge }: Wish,
): string | null {
  if (challenge?.isInsufficientScope !== true) return tokens?.scope ?? scopeToRequest(context, issuer, hint);
  return computeScopeUnion(tokens?.scope ?? undefined, challenge.scope ?? undefined) ?? null;
}

/** Stores the challenge for a later user sign-in, which has none, and for the next token. */
async function keepHint(context: OAuthContext, { resourceMetadataUrl, scope }: Challenge): Promise<void> {
  if (resourceMetadataUrl === null && scope === null) return;
  await changeGrant(sharedBy(context), (grant) => {
    const hint = {
      resourceMetadataUrl: resourceMetadataUrl ?? grant.hint?.resourceMetadataUrl ?? null,
      scope: scope ?? grant.hint?.scope ?? null,
    };
    return JSON.stringify(hint) === JSON.stringify(grant.hint) ? null : { ...grant, hint };
  });
}
