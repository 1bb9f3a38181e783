/** Grants: the access of MCP clients that people have signed in to (OAuth), and what tokens may do. */
import * as z from 'zod';

/**
 * The scopes of access tokens, a part of those of keys. `tools` is the minimum, and what a client gets that asks for none. A token never
 * has more than its user.
 */
export const GrantScope = z.enum(['tools', 'toolsets']);
export type GrantScope = z.infer<typeof GrantScope>;

/** What each scope allows, on the consent page. */
export const grantScopeTexts: Readonly<Record<GrantScope, string>> = {
  tools: 'List these tools and call them as you',
  toolsets: 'Change toolsets with the configuration tools',
};

/** Returns the known scopes of a space-separated list, always with `tools`. Unknown ones are left out (RFC 6749 §3.3). */
export function readGrantScopes(text: string): GrantScope[] {
  const asked = new Set(text.split(' '));
  return GrantScope.options.filter((scope) => scope === 'tools' || asked.has(scope));
}

export const GrantView = z
  .object({
    id: z.string(),
    user: z.object({ id: z.string(), name: z.string(), email: z.string().optional() }),
    client: z.object({
      id: z.string(),
      name: z.string().meta({ description: 'As the client gave it. Not verified.' }),
      redirectScheme: z.string().meta({
        description:
          'How the browser returned to the client: `https`, `http` (to a program on the user\u2019s device), or the private-use scheme of a program, such as `cursor`.',
      }),
      redirectHost: z.string().meta({ description: 'Where the browser returned to. May be empty for a private-use scheme.' }),
    }),
    resource: z.string().meta({ description: 'URL of the MCP endpoint. The tokens of the grant are accepted only there.' }),
    scopes: z.array(GrantScope),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime().nullable().meta({ description: 'Each refresh postpones it.' }),
  })
  .meta({ id: 'Grant' });
export type GrantView = z.infer<typeof GrantView>;

/** Who signed in. `id`: as in `Principal.user`. */
export type GrantUser = { id: string; name: string; email?: string };

/** A client as the OAuth library stores it. Only the members that Moniker reads are named. */
export type OAuthClient = {
  clientId: string;
  redirectUris: readonly string[];
  clientName?: string;
  tokenEndpointAuthMethod: string;
};

/** A checked authorization request, as the user accepted it. `resource`: the URL of the MCP endpoint. */
export type AcceptedRequest = {
  issuer: string;
  client: OAuthClient;
  redirectUri: string;
  state: string;
  codeChallenge: string;
  resource: string;
  scopes: readonly GrantScope[];
};
