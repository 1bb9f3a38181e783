/** OpenID Connect: discovery, and the authorization code flow with PKCE and nonce (OpenID Connect Core 1.0 §3.1, RFC 9700). */
import * as z from 'zod';
import { isLoopback } from '../net/address.ts';
import { Problem } from '../core/problem.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import { type CodeFlow, exchangeJson, type Identity, type PendingSignIn, refused, type ReturnedCode } from './exchange.ts';
import type { GroupMap } from '../core/people/group-map.ts';
import { graphOf, graphScope, groupsIn, groupsOfEntra } from './group-claim.ts';
import { createTokenVerifier, identityOf } from './id-token.ts';

export type OidcProvider = { issuer: string; clientId: string; clientSecret: string | null };

const Metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
});
type Metadata = z.infer<typeof Metadata>;

const Tokens = z.object({ id_token: z.string(), access_token: z.string().optional() });

const metadataTtlMs = 10 * 60_000;

export function createOidc({ outbound, now }: { outbound: OutboundHttp; now: () => number }) {
  const verify = createTokenVerifier(outbound, now);
  const known = new Map<string, { metadata: Metadata; until: number }>();

  const discover = async (issuer: string): Promise<Metadata> => {
    const cached = known.get(issuer);
    if (cached !== undefined && cached.until > now()) return cached.metadata;
    const url = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`;
    const read = Metadata.safeParse(await exchangeJson(outbound, new Request(url)));
    if (!read.success || read.data.issuer !== issuer)
      throw new Problem('upstream_error', `${url} is not the configuration of the issuer ${issuer}. Check MONIKER_OIDC_ISSUER.`);
    for (const endpoint of [read.data.authorization_endpoint, read.data.token_endpoint, read.data.jwks_uri]) requireSafe(endpoint);
    known.set(issuer, { metadata: read.data, until: now() + metadataTtlMs });
    return read.data;
  };

  return {
    /** `map`: null: no groups are read. */
    flow: ({ issuer, clientId, clientSecret }: OidcProvider, map: GroupMap | null): CodeFlow => ({
      async authorizationUrl(pending, challenge, redirectUri) {
        const url = new URL((await discover(issuer)).authorization_endpoint);
        const graph = graphOf(issuer, map);
        const scope = ['openid email profile', ...(graph === null ? [] : [graphScope(graph)])].join(' ');
        const query = { response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope };
        const checks = { state: pending.state, nonce: pending.nonce, code_challenge: challenge, code_challenge_method: 'S256' };
        for (const [name, value] of Object.entries({ ...query, ...checks })) url.searchParams.set(name, value);
        return url.href;
      },

      async identity(pending: PendingSignIn, { code, iss }: ReturnedCode, redirectUri): Promise<Identity> {
        const metadata = await discover(issuer);
        // RFC 9207: the code comes from this provider, not from another one that the person signed in to.
        if (iss === null ? metadata.authorization_response_iss_parameter_supported === true : iss !== issuer)
          throw refused('the response names another identity provider than the one that was asked');
        const usesBasic =
          clientSecret !== null &&
          (metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic']).includes('client_secret_basic');
        const body = new URLSearchParams({
          grant_type: 'authorization_code',
          ...{ code, redirect_uri: redirectUri, client_id: clientId, code_verifier: pending.verifier },
          ...(clientSecret !== null && !usesBasic && { client_secret: clientSecret }),
        });
        const headers = {
          ...{ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
          ...(usesBasic && { authorization: `Basic ${btoa(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret ?? '')}`)}` }),
        };
        const tokens = Tokens.safeParse(
          await exchangeJson(outbound, new Request(metadata.token_endpoint, { method: 'POST', headers, body: body.toString() })),
        );
        if (!tokens.success) throw refused('the identity provider returned no ID token');
        const claims = await verify(tokens.data.id_token, { keysUrl: metadata.jwks_uri, issuer, audience: clientId });
        if (claims.nonce !== pending.nonce) throw refused('the ID token belongs to another sign-in');
        const isOnlyAudience = typeof claims.aud === 'string' || claims.aud?.length === 1;
        if ((!isOnlyAudience || claims.azp !== undefined) && claims.azp !== clientId)
          throw refused('the ID token was issued to another client');
        if (map === null) return identityOf(claims);
        const graph = graphOf(issuer, map);
        const asked = { claims, claim: map.claim, accessToken: tokens.data.access_token };
        return {
          ...identityOf(claims),
          groups: graph === null ? groupsIn(claims, map.claim) : await groupsOfEntra(outbound, graph, asked),
        };
      },
    }),

    /** Returns who an assertion of Cloudflare Access names. */
    async access(assertion: string, { issuer, audience }: { issuer: string; audience: string }, groupClaim?: string): Promise<Identity> {
      const claims = await verify(assertion, { keysUrl: `${issuer}/cdn-cgi/access/certs`, issuer, audience });
      // Access verifies the email with the login method of the team.
      const groups = groupClaim === undefined ? {} : { groups: groupsIn(claims, groupClaim) };
      return { ...identityOf(claims, true), until: (claims.exp ?? 0) * 1_000, ...groups };
    },
  };
}

/** Codes and tokens go over TLS, except on this machine. */
function requireSafe(endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === 'https:' || (protocol === 'http:' && (hostname === 'localhost' || isLoopback(hostname)))) return;
  throw new Problem('upstream_error', `The endpoint ${endpoint} of the identity provider does not use https.`);
}
