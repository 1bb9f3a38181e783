/**
 * Tokens of one server for those who call it: from memory, else from the grant, else new ones. Of all isolates one gets new ones at a
 * time: it says so in the grant first, because a refresh token that is shown twice ends the sign-in at issuers that rotate them
 * (OAuth 2.1 §4.3.1); the others look until they are there. A person's sign-in is never begun here (`sign-in.ts`).
 */
import { computeScopeUnion, isStrictScopeSuperset } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import type { ServerTokens } from '../../ports/upstream.ts';
import type { OAuthContext } from './context.ts';
import { discoverIssuer, isUnknown, issuerId, readChallenge, scopeToAsk, type Challenge } from './discover.ts';
import { refusalOf } from './exchange.ts';
import { freshUntil, type Grant, type Hint, type Issuer, type Tokens } from './grant.ts';
import { changeGrant, readGrant, writeGrant } from './grant-store.ts';
import { tokensByClient, tokensByRefresh } from './request-tokens.ts';
import type { TokenMemory } from './token-memory.ts';

/** `key`: of this server in `memory`, other than that of any other server or workspace. */
export function createServerTokens(context: OAuthContext, memory: TokenMemory, key: string): ServerTokens {
  const obtain = async (wish: Wish): Promise<string | null> => {
    const tokens = await memory.join(JSON.stringify([key, wish]), () => currentTokens(context, wish));
    const { now } = context.clock;
    // Nobody signed in: looked for again soon, because somebody may in another isolate.
    if (tokens === null) memory.keep(key, { token: null, until: now() + limits.serverTtlMs });
    else memory.keep(key, { token: tokens.accessToken, until: Math.min(now() + limits.tokenTtlMs, freshUntil(tokens)) });
    return tokens?.accessToken ?? null;
  };

  return {
    async token() {
      const known = memory.read(key, context.clock.now());
      return known === undefined ? await obtain({ refused: null, challenge: null }) : known;
    },
    async renew(refused, header) {
      const challenge = readChallenge(header);
      memory.forget(key);
      // Only a person can say yes to more.
      if (challenge?.isInsufficientScope === true && context.server.oauth.grant === 'authorization_code') {
        await keepHint(context, challenge);
        return false;
      }
      const token = await obtain({ refused, challenge: challenge ?? noChallenge });
      return token !== null && token !== refused;
    },
  };
}

/** `challenge` null: nothing was refused, so tokens that are fresh will do. */
type Wish = { refused: string | null; challenge: Challenge | null };

const noChallenge: Challenge = { resourceMetadataUrl: null, scope: null, isInsufficientScope: false };

/** Those of the grant, if they will do; else new ones; null: there is no way to any, or none that could be other than what was refused. */
async function currentTokens(context: OAuthContext, wish: Wish): Promise<Tokens | null> {
  const { clock, server } = context;
  if (wish.challenge !== null) await keepHint(context, wish.challenge);
  const deadline = clock.now() + limits.tokenLeaseMs;
  for (;;) {
    const now = clock.now();
    const { grant, revision } = await readGrant(context);
    const { tokens } = grant;
    if (tokens !== null && tokens.accessToken !== wish.refused && now < freshUntil(tokens)) return tokens;
    if (!canRenew(context, grant, wish, now)) return null;
    if (grant.renewedUntil !== null && grant.renewedUntil > now) {
      if (now >= deadline) {
        throw new Problem('upstream_timeout', `New tokens for ${server.name} did not come in time.`, { retryable: true });
      }
      await clock.sleep(limits.tokenWaitMs);
      continue;
    }
    if (!(await writeGrant(context, { ...grant, renewedUntil: now + limits.tokenLeaseMs }, revision))) continue;
    const renewed = await renewAlone(context, grant, wish, revision + 1);
    if (renewed !== 'again') return renewed;
  }
}

/** A client that needs nobody always can, unless what it has was given just now; anyone else with a refresh token. */
function canRenew({ server }: OAuthContext, { tokens }: Grant, { refused, challenge }: Wish, now: number): boolean {
  if (tokens === null) return server.oauth.grant === 'client_credentials';
  const isStepUp = challenge?.isInsufficientScope === true;
  if (isStepUp && !isStrictScopeSuperset(challenge.scope ?? undefined, tokens.scope ?? undefined)) return false;
  const isRefusedAtOnce = tokens.accessToken === refused && now - tokens.obtainedAt < limits.minTokenAgeMs;
  if (isRefusedAtOnce && !isStepUp) return false;
  return server.oauth.grant === 'client_credentials' || tokens.refreshToken !== null;
}

/** Whoever is here said so in the grant, at `revision`. `again`: somebody signed in or out meanwhile, which counts for more. */
async function renewAlone(context: OAuthContext, grant: Grant, wish: Wish, revision: number): Promise<Tokens | null | 'again'> {
  let after: Pick<Grant, 'tokens' | 'lost'> = grant;
  try {
    after = await newTokens(context, grant, wish);
  } catch (error) {
    await writeGrant(context, { ...grant, renewedUntil: null }, revision);
    throw asked(error);
  }
  const isKept = await writeGrant(context, { ...grant, ...after, renewedUntil: null }, revision);
  return isKept ? after.tokens : 'again';
}

/** What an issuer refuses is a matter of credentials; all else is a matter of the way there. */
function asked(error: unknown): unknown {
  if (!(error instanceof Problem) || refusalOf(error) === null) return error;
  return new Problem(error.code, error.detail, { ...error.extra, unauthorized: true });
}

async function newTokens(context: OAuthContext, grant: Grant, wish: Wish): Promise<Pick<Grant, 'tokens' | 'lost'>> {
  const { tokens, hint } = grant;
  const { oauth } = context.server;
  const issuer = await issuerNow(context, grant, wish);
  if (oauth.grant === 'client_credentials') {
    // Where nothing is known of an issuer, the server is asked without a token first: its challenge tells.
    if (oauth.clientId === undefined || (isUnknown(issuer) && wish.challenge === null)) return { tokens: null, lost: null };
    const scope = scopeOfClient(context, issuer, tokens, hint, wish);
    return { tokens: await tokensByClient(context, issuer, { client_id: oauth.clientId }, scope), lost: null };
  }
  if (tokens === null || tokens.refreshToken === null) return { tokens: null, lost: 'expired' };
  if (issuerId(issuer) !== issuerId(tokens.issuer)) return lose(context, 'issuer_changed');
  try {
    return { tokens: await tokensByRefresh(context, tokens, tokens.refreshToken), lost: null };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null || !final.has(refusal)) throw error;
    return lose(context, refusal);
  }
}

/** RFC 6749 §5.2: these stay so however often one asks. */
const final: ReadonlySet<string> = new Set(['invalid_grant', 'invalid_client', 'unauthorized_client']);

function lose({ log, server }: OAuthContext, reason: string): Pick<Grant, 'tokens' | 'lost'> {
  log.info('a sign-in has ended', { server: server.name, reason });
  return { tokens: null, lost: reason };
}

/** As it was when the tokens were got; looked for again when the server refuses them, since it may trust another one by now. */
async function issuerNow(context: OAuthContext, { tokens, hint }: Grant, { challenge }: Wish): Promise<Issuer> {
  if (tokens === null) return await discoverIssuer(context, hint);
  if (challenge === null || challenge.isInsufficientScope) return tokens.issuer;
  const found = await discoverIssuer(context, hint);
  // Metadata that was there and is not is a fault of the day, not another issuer.
  return found.resource === null && tokens.issuer.resource !== null ? tokens.issuer : found;
}

/** What was granted and what the server wants besides, where it says that this was too little. */
function scopeOfClient(
  context: OAuthContext,
  issuer: Issuer,
  tokens: Tokens | null,
  hint: Hint | null,
  { challenge }: Wish,
): string | null {
  if (challenge?.isInsufficientScope !== true) return tokens?.scope ?? scopeToAsk(context, issuer, hint);
  return computeScopeUnion(tokens?.scope ?? undefined, challenge.scope ?? undefined) ?? null;
}

/** Kept for the sign-in of a person, who comes later and with no challenge; and for the next token, when this one has run out. */
async function keepHint(context: OAuthContext, { resourceMetadataUrl, scope }: Challenge): Promise<void> {
  if (resourceMetadataUrl === null && scope === null) return;
  await changeGrant(context, (grant) => {
    const hint = {
      resourceMetadataUrl: resourceMetadataUrl ?? grant.hint?.resourceMetadataUrl ?? null,
      scope: scope ?? grant.hint?.scope ?? null,
    };
    return JSON.stringify(hint) === JSON.stringify(grant.hint) ? null : { ...grant, hint };
  });
}
