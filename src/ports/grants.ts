/** The grants of a workspace: OAuth tokens of MCP clients. The Catalog implements it with the OAuth library. */
import type { AcceptedRequest, GrantUser, GrantView, OAuthClient } from '../core/people/grant.ts';
import type { Page, PageRequest } from './catalog.ts';

/** A request to the token endpoint or the revocation endpoint. `token`: the text of the token without its signature. */
export type TokenRequest = {
  issuer: string;
  client: OAuthClient;
  authorization: string | null;
  form: readonly (readonly [name: string, value: string])[];
};

export type TokenReply = { status: number; headers: [name: string, value: string][]; body: string };

export interface Grants {
  /**
   * Creates a grant with an authorization code, and returns the URL to redirect the browser to. Replaces the user's grant for the same client and
   * resource. `rootProof`: of a person who signed in with the root key, with which the grant ends.
   */
  grantAccess(user: GrantUser, request: AcceptedRequest, rootProof?: string): Promise<{ redirectTo: string }>;
  /** Exchanges a code or a refresh token, or revokes a token. Each code and refresh token is used once; using it again ends the grant. */
  redeemToken(request: TokenRequest): Promise<TokenReply>;
  /** Newest first. `userId`: only those of this user. */
  grants(page: PageRequest, userId: string | null): Promise<Page<GrantView>>;
  /** Takes effect within `limits.principalTtlMs`. Throws `not_found` for a grant that does not exist or is not of `userId`. */
  endGrant(id: string, userId: string | null): Promise<void>;
}
