/** Sign-ins for the servers of all workspaces, used by the routes. Built in `wiring/`. */
import { type Act, isAllowed, type Rights } from '../../core/people/authority.ts';
import type { Origin, SignInState } from '../../core/people/principal.ts';
import { Problem, quoted } from '../../core/problem.ts';
import { maySignIn, type ServerAccess } from '../../core/servers/server.ts';
import { impliedOAuth, type ServerOAuth } from '../../core/servers/server-oauth.ts';
import type { AuthorizationStatus } from '../../core/servers/server-state.ts';
import type { ServerTokens, SignInOffer } from '../../ports/upstream.ts';
import type { OAuthContext } from './exchange.ts';
import { isValidUntil } from '../../core/people/token-times.ts';
import { triggerOfKey } from '../../core/triggers/trigger-principal.ts';
import { limits } from '../../core/limits/limits.ts';
import { createTimedCache } from '../../platform/timed-cache.ts';
import type { Clock } from '../../ports/runtime.ts';
import { lazyTokens } from '../lazy-client.ts';
import type { TokenCache } from './server-tokens.ts';
import type { AuthorizationResponse } from './sign-in.ts';

/** From the sign-in link to the return of the user. */
export const signInTtlMs = 10 * 60_000;

export type SignInsDeps = {
  clock: Clock;
  server(workspace: string, name: string): Promise<ServerAccess>;
  /** Returns the context without the server. `keyId`: the key that signs in or out, for the audit. */
  contextOf(workspace: string, keyId?: string): Omit<OAuthContext, 'server'>;
  mintState(state: SignInState): Promise<string>;
  /** Returns null if the state was not created here. */
  readState(text: string): Promise<SignInState | null>;
  /** Returns what the one who started a sign-in may do now; null: nothing any more. */
  originRights(workspace: string, origin: Origin): Promise<Rights | null>;
  nonce(): string;
  /** Where users connect to a server; null: this installation has no public URL. */
  connectUrl(workspace: string, server: string): string | null;
};

/** Whose sign-in: the workspace's, which `keyId` starts or ends (for the audit), or that of the user or key `owner`. */
export type SignInOf = { keyId?: string | undefined; owner?: string | undefined };

type NewSignIn = { origin: Origin; owner?: string; browser?: string; redirectUri: string; metadataUrl: string | null };

export type SignIns = ReturnType<typeof createSignIns>;

export function createSignIns(deps: SignInsDeps) {
  // A renewal waits for the issuer, and for other isolates.
  const bounds = { maxEntries: limits.maxCachedNames, now: () => deps.clock.now(), joinMs: limits.tokenRenewalMs };
  const tokenCache: TokenCache = createTimedCache(bounds);
  const contextOf = (workspace: string, server: ServerAccess, { keyId, owner }: SignInOf, implied?: ServerOAuth): OAuthContext | null => {
    const { name, url } = server;
    const oauth = server.mcp?.oauth ?? (maySignIn(server) ? implied : undefined);
    if (oauth === undefined) return null;
    return { ...deps.contextOf(workspace, keyId ?? owner), server: { name, url, oauth }, ...(owner !== undefined && { owner }) };
  };
  const contextFor = async (workspace: string, name: string, of: SignInOf): Promise<OAuthContext> => {
    const context = contextOf(workspace, await deps.server(workspace, name), of, impliedOAuth);
    if (context === null)
      throw new Problem('conflict', `The server ${quoted(name)} has no sign-in: it has no URL of MCP, or an \`authorization\` header.`);
    if (of.owner === undefined || isPerUser(context)) return context;
    throw new Problem('conflict', `Users do not connect to the server ${quoted(name)}: it has one sign-in for the workspace.`);
  };

  return {
    /** `browser`: as in `SignInState`; with `owner` only. Throws `conflict` if the server's sign-in is not of this kind. */
    async begin(workspace: string, name: string, { origin, owner, browser, ...own }: NewSignIn) {
      const context = await contextFor(workspace, name, { keyId: origin.keyId, owner });
      const expiresAt = context.clock.now() + signInTtlMs;
      const nonce = deps.nonce();
      const state = await deps.mintState({
        workspace,
        server: name,
        nonce,
        expiresAt,
        owner: owner ?? null,
        browser: browser ?? null,
        origin,
      });
      const { beginSignIn } = await flow();
      const isImplied = context.server.oauth === impliedOAuth;
      return { authorizationUrl: await beginSignIn(context, { ...own, nonce, state, expiresAt, isImplied }), expiresAt };
    },
    /**
     * Uses the returned `state`, which names the server. `browser`: the hash of what the returning browser has; null: nothing. Throws `forbidden`
     * if the key that started the sign-in may not start it any more.
     */
    async finish(text: string, returned: AuthorizationResponse, browser: string | null) {
      const state = await deps.readState(text);
      if (state === null) throw new Problem('not_found', 'This response does not belong to a sign-in started here.');
      const { workspace, server, owner, origin } = state;
      if (state.browser !== null && state.browser !== browser) throw otherBrowser();
      requireStarter(await deps.originRights(workspace, origin), owner);
      const context = await contextFor(workspace, server, { owner: owner ?? undefined });
      const { finishSignIn, signInUsed: usedUp } = await flow();
      if (!isValidUntil(state.expiresAt, context.clock.now(), signInTtlMs)) throw usedUp();
      await finishSignIn(context, state.nonce, returned);
      tokenCache.invalidate(keyOf(workspace, context));
      return { workspace, server, owner };
    },
    async forget(workspace: string, name: string, of: SignInOf = {}): Promise<void> {
      const context = await contextFor(workspace, name, of);
      await (await flow()).forgetSignIn(context);
      tokenCache.invalidate(keyOf(workspace, context));
    },
    /** Returns null if the server has no `oauth`, and has offered no sign-in. */
    async status(workspace: string, name: string, owner?: string): Promise<AuthorizationStatus | null> {
      const context = contextOf(workspace, await deps.server(workspace, name), { owner });
      return context === null ? null : await (await flow()).signInStatus(context);
    },
    /**
     * Tokens for calls; null if the server has no `oauth` and no sign-in. `caller`: the calling user or key, or a trigger; null: the tool list is
     * read, with the workspace's sign-in.
     */
    tokens(workspace: string, server: ServerAccess, caller: string | null): ServerTokens | null {
      const owner = caller !== null && server.mcp?.oauth?.per === 'user' ? caller : undefined;
      const context = contextOf(workspace, server, { owner });
      if (context === null) return null;
      const key = keyOf(workspace, context);
      const tokens = lazyTokens(async () => (await import('./server-tokens.ts')).createServerTokens(context, tokenCache, key));
      if (owner === undefined) return tokens;
      const isTrigger = triggerOfKey(owner) !== null;
      return { ...tokens, connection: { url: isTrigger ? null : deps.connectUrl(workspace, server.name), isTrigger } };
    },
    /** For the listing of a server without `oauth`: sends no token, and finds out whether a user can sign in. null: none may. */
    offer(workspace: string, server: ServerAccess): ServerTokens | null {
      const context = contextOf(workspace, server, {}, impliedOAuth);
      if (context === null || server.mcp?.oauth !== undefined) return null;
      let found: SignInOffer = { isOffered: false };
      return {
        token: async () => null,
        async refreshAfterRejection(_refused, challenge) {
          if (!found.isOffered) found = await (await import('./discover.ts')).readSignInOffer(context, challenge);
          return false;
        },
        signInOffer: () => found,
      };
    },
  };
}

function isPerUser({ server }: OAuthContext): boolean {
  return server.oauth.per === 'user';
}

/** What is required to start the sign-in of the workspace, or one's own. */
function requireStarter(rights: Rights | null, owner: string | null): void {
  const acts: readonly Act[] =
    owner === null
      ? [
          { act: 'use-scope', scopes: ['admin'] },
          { act: 'use-workspace', what: 'Servers' },
        ]
      : [{ act: 'use-scope', scopes: ['chat', 'tools'] }];
  if (rights !== null && acts.every((act) => isAllowed(rights, act))) return;
  throw new Problem('forbidden', 'The key that started this sign-in has ended, or may not start it any more. Start it again.');
}

/** Otherwise a user could send the link of a sign-in to another one, whose account would then be theirs. */
function otherBrowser(): Problem {
  const detail = 'This sign-in was started in another browser, so it was not completed. Start it again in this browser.';
  return new Problem('forbidden', detail);
}

/** Lazy, as in `mcp/lazy-client.ts`. */
const flow = () => import('./sign-in.ts');

/** Includes URL and client, so that a change of either starts with an empty cache. */
function keyOf(workspace: string, { server, owner }: OAuthContext): string {
  return JSON.stringify([workspace, server.name, server.url, server.oauth, owner ?? null]);
}
