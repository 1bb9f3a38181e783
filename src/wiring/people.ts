/** Who a caller is: people who sign in with a browser, OAuth for MCP clients, links, and what is counted of their failed attempts. */
import { createAttemptLimit } from '../engine/attempt-limit.ts';
import { createAuthorization } from '../mcp/authorization/authorization.ts';
import { createPageFile } from '../platform/page-files.ts';
import { createIdentity } from '../sign-in/identity.ts';
import { openToken, type TokenKind } from '../storage/keys/access-token.ts';
import type { Bindings } from '../storage/bindings.ts';
import { createPeople } from '../storage/published/people.ts';
import { rootPrincipal } from '../storage/published/principals.ts';
import { createApprovalLinks, createJsonSeal, createSignInNonce } from '../storage/keys/signed-token.ts';
import type { ObjectParts } from './objects.ts';
import type { WiringOptions, RuntimeParts } from './runtime.ts';

export function buildPeople(bindings: Bindings, { authorization }: WiringOptions, parts: RuntimeParts & ObjectParts) {
  const { settings, runtime, master, sealing, outbound, catalog } = parts;
  const { now } = runtime.clock;
  return {
    /** The authorization server for MCP clients, and what its consent page is shown for. */
    oauth:
      authorization ?? createAuthorization({ outbound, clock: runtime.clock, ids: createJsonSeal(master, 'oauth-client'), ...settings }),
    consents: createJsonSeal(master, 'consent'),
    /** Returns the workspace of a token of OAuth of one of these kinds; null: it was not issued here. */
    workspaceOfToken: async (text: string, kinds: readonly TokenKind[]): Promise<string | null> => {
      const token = await openToken(master, text);
      return token !== null && kinds.includes(token.kind) ? token.workspace : null;
    },
    /** Who a person is, from the operator's identity providers. */
    identity: createIdentity({
      providers: settings.identityProviders,
      outbound,
      ...runtime,
      seal: createJsonSeal(sealing, 'browser-sign-in'),
      nonce: createSignInNonce,
      consumeNonce: (nonce, expiresAt) => catalog(rootPrincipal.workspace).consumeNonce(nonce, expiresAt),
    }),
    /** People who sign in with a browser. */
    people: createPeople({ ...runtime, settings, sealing, catalog }),
    /** Tokens of links that decide one approval (`storage/keys/signed-token.ts`). */
    approvalLinks: createApprovalLinks(master),
    /** Failed attempts to send events to webhooks. */
    hookAttempts: createAttemptLimit(now, { perAddress: 600, perTarget: 3_000 }),
    /** Failed attempts to sign in or to get a token of OAuth; by address only, since strangers must not lock everyone out. */
    signInAttempts: createAttemptLimit(now, { perAddress: 120, perTarget: Number.POSITIVE_INFINITY }),
    /** Returns a file of the built pages, also as a 304; null if it does not exist. */
    pageFile: createPageFile(bindings.ASSETS),
  };
}
