/** What the parts of the authorization server share: a checked authorization request, and how values are signed. */
import type { AcceptedRequest } from '../../core/people/grant.ts';
import type { McpEndpoint } from '../../core/servers/mcp-resource.ts';
import { Problem } from '../../core/problem.ts';

/** A checked request, which no one has accepted yet. `domain`: where the metadata document of the client is; null: its name is not verified. */
export type AuthorizationRequest = AcceptedRequest & { endpoint: McpEndpoint; domain: string | null };

/** `redirectTo`: where the browser may take the error; null while client and redirect URI are not checked. */
export class AuthorizationRefused extends Problem {
  override name = 'AuthorizationRefused';
  readonly redirectTo: string | null;
  constructor(detail: string, redirectTo: string | null) {
    super('invalid_request', detail);
    this.redirectTo = redirectTo;
  }
}

/** Signs values that clients carry (`storage/keys/signed-token.ts`). */
export type JsonSeal = {
  seal(workspace: string, value: object): Promise<string>;
  /** Returns null for a text that was not signed here. */
  open(workspace: string, text: string): Promise<Record<string, unknown> | null>;
};
