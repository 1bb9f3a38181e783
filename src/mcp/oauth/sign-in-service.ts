/** Sign-ins for the servers of all workspaces, used by the routes. Built in `wiring.ts`. */
import { Problem, quoted } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { AuthorizationStatus } from '../../core/servers/server-state.ts';
import type { ServerTokens } from '../../ports/upstream.ts';
import type { OAuthContext } from './exchange.ts';
import { lazyTokens } from '../lazy-client.ts';
import type { AuthorizationResponse } from './sign-in.ts';
import { createTokenMemory } from './token-memory.ts';

/** From the sign-in link to the return of the user. */
export const signInTtlMs = 10 * 60_000;

export type SignInState = { workspace: string; server: string; nonce: string; expiresAt: number };

export type SignInsDeps = {
  server(workspace: string, name: string): Promise<ServerAccess>;
  /** Returns the context without the server. `keyId`: the key that signs in or out, for the audit. */
  contextOf(workspace: string, keyId?: string): Omit<OAuthContext, 'server'>;
  mintState(state: SignInState): Promise<string>;
  /** Returns null if the state was not created here. */
  readState(text: string): Promise<SignInState | null>;
  nonce(): string;
};

/** `keyId`: the key that signs in or out, for the audit. */
export type SignIns = {
  begin(
    workspace: string,
    server: string,
    own: { redirectUri: string; metadataUrl: string | null; keyId?: string },
  ): Promise<{ authorizationUrl: string; expiresAt: number }>;
  /** Uses the returned `state`, which names the server. */
  finish(state: string, returned: AuthorizationResponse): Promise<{ workspace: string; server: string }>;
  forget(workspace: string, server: string, keyId?: string): Promise<void>;
  /** Returns null if the server has no `oauth`. */
  status(workspace: string, server: string): Promise<AuthorizationStatus | null>;
  /** Tokens for calls; null if the server has no `oauth`. */
  tokens(workspace: string, server: ServerAccess): ServerTokens | null;
};

export function createSignIns(deps: SignInsDeps): SignIns {
  const memory = createTokenMemory();
  const contextOf = (workspace: string, server: ServerAccess, keyId?: string): OAuthContext | null => {
    const oauth = server.mcp?.oauth;
    return oauth === undefined ? null : { ...deps.contextOf(workspace, keyId), server: { name: server.name, url: server.url, oauth } };
  };
  const contextFor = async (workspace: string, name: string, keyId?: string): Promise<OAuthContext> => {
    const context = contextOf(workspace, await deps.server(workspace, name), keyId);
    if (context !== null) return context;
    throw new Problem('conflict', `The server ${quoted(name)} has no \`oauth\` in its document, so it has no sign-in.`);
  };

  return {
    async begin(workspace, name, { keyId, ...own }) {
      const context = await contextFor(workspace, name, keyId);
      const expiresAt = context.clock.now() + signInTtlMs;
      const nonce = deps.nonce();
      const state = await deps.mintState({ workspace, server: name, nonce, expiresAt });
      const { beginSignIn } = await flow();
      return { authorizationUrl: await beginSignIn(context, { ...own, nonce, state, expiresAt }), expiresAt };
    },
    async finish(text, returned) {
      const state = await deps.readState(text);
      if (state === null) throw new Problem('not_found', 'This response does not belong to a sign-in started here.');
      const { workspace, server } = state;
      const context = await contextFor(workspace, server);
      const { finishSignIn, signInUsed: usedUp } = await flow();
      if (state.expiresAt <= context.clock.now()) throw usedUp();
      await finishSignIn(context, state.nonce, returned);
      memory.forget(keyOf(workspace, context));
      return { workspace, server };
    },
    async forget(workspace, name, keyId) {
      const context = await contextFor(workspace, name, keyId);
      await (await flow()).forgetSignIn(context);
      memory.forget(keyOf(workspace, context));
    },
    async status(workspace, name) {
      const context = contextOf(workspace, await deps.server(workspace, name));
      return context === null ? null : await (await flow()).signInStatus(context);
    },
    tokens(workspace, server) {
      const context = contextOf(workspace, server);
      if (context === null) return null;
      return lazyTokens(async () => (await import('./server-tokens.ts')).createServerTokens(context, memory, keyOf(workspace, context)));
    },
  };
}

/** Lazy, as in `mcp/lazy-client.ts`. */
const flow = () => import('./sign-in.ts');

/** Includes URL and client, so that a change of either starts with an empty cache. */
function keyOf(workspace: string, { server }: OAuthContext): string {
  return JSON.stringify([workspace, server.name, server.url, server.oauth]);
}
