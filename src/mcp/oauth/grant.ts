/**
 * What is kept of signing in to one server, as one JSON: the Catalog seals it and knows nothing of its content. It belongs to the
 * address and the client that it was made for: where the server's document says others now, it is as if there were none, so that a
 * token never goes to another server than the one that it was given for.
 */
import { z } from 'zod';
import { limits } from '../../core/limits.ts';
import type { ServerOAuth } from '../../core/servers/server.ts';

const Text = z.string().max(limits.maxUrlLength);
const Items = z.array(z.string().max(1_000)).max(limits.maxMetadataItems).optional().catch(undefined);

/** RFC 8414: the members that are used, in the names of the wire. */
const IssuerMetadata = z.object({
  issuer: Text,
  authorization_endpoint: Text,
  token_endpoint: Text,
  registration_endpoint: Text.optional(),
  revocation_endpoint: Text.optional(),
  response_types_supported: z.array(z.string().max(1_000)).max(limits.maxMetadataItems),
  code_challenge_methods_supported: Items,
  token_endpoint_auth_methods_supported: Items,
  scopes_supported: Items,
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});

/** Who gives tokens for the server, as it was found out. `metadata` null: it says nothing of itself (servers of before 2025-06-18). */
export const Issuer = z.object({
  url: Text,
  metadata: IssuerMetadata.nullable(),
  /** RFC 9728, where the server has it. */
  resource: z.object({ id: Text, scopes: Items }).nullable(),
});
export type Issuer = z.infer<typeof Issuer>;

/** As whom we speak with an issuer. A secret that an administrator gave is not in it: it is read each time, for the host it goes to. */
export const Client = z.object({
  client_id: z.string().min(1).max(2_000),
  client_secret: z.string().max(limits.maxTokenLength).optional(),
  token_endpoint_auth_method: z.string().max(100).optional(),
});
export type Client = z.infer<typeof Client>;

const Registration = z.object({
  issuer: Text,
  redirectUri: Text,
  client: Client,
  /** Milliseconds since the epoch; null: its secret has no end. */
  expiresAt: z.number().nullable(),
});

const Tokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  scope: z.string().nullable(),
  /** Milliseconds since the epoch; null: nobody said. */
  obtainedAt: z.number(),
  expiresAt: z.number().nullable(),
  client: Client,
  issuer: Issuer,
});
export type Tokens = z.infer<typeof Tokens>;

const SignIn = z.object({
  nonce: z.string(),
  expiresAt: z.number(),
  codeVerifier: z.string(),
  redirectUri: Text,
  scope: z.string().nullable(),
  client: Client,
  issuer: Issuer,
});
export type SignIn = z.infer<typeof SignIn>;

/** What the server itself said when it did not take a request: where its metadata is, and what for. */
const Hint = z.object({ resourceMetadataUrl: Text.nullable(), scope: z.string().max(limits.maxUrlLength).nullable() });
export type Hint = z.infer<typeof Hint>;

const Grant = z.object({
  for: z.string(),
  hint: Hint.nullable(),
  registrations: z.array(Registration).max(limits.maxRegistrations),
  tokens: Tokens.nullable(),
  /** Why tokens that were there are no more, in a word of OAuth: a person has to sign in again. */
  lost: z.string().nullable(),
  signIn: SignIn.nullable(),
  /** Somebody is getting new tokens, and has until then. */
  renewedUntil: z.number().nullable(),
});
export type Grant = z.infer<typeof Grant>;

type Whose = { url: string; oauth: ServerOAuth };

/** null, or what somebody wrote for another address: an empty one. Never throws: what cannot be read is asked for again. */
export function parseGrant(value: string | null, whose: Whose): Grant {
  if (value === null) return emptyGrant(whose);
  // Written by ourselves and sealed; the schema is for what an earlier version of this file wrote.
  const parsed = Grant.safeParse(JSON.parse(value));
  return parsed.success && parsed.data.for === ownerOf(whose) ? parsed.data : emptyGrant(whose);
}

function emptyGrant(whose: Whose): Grant {
  return { for: ownerOf(whose), hint: null, registrations: [], tokens: null, lost: null, signIn: null, renewedUntil: null };
}

/** Tokens that a client gets for itself are got anew when it is to have other scopes; a person is not asked again for that. */
function ownerOf({ url, oauth }: Whose): string {
  const scopes = oauth.grant === 'client_credentials' ? (oauth.scopes ?? null) : null;
  return JSON.stringify([url, oauth.grant, oauth.clientId ?? null, scopes]);
}

/** A while before its end, so that none runs out on its way. */
export function freshUntil({ obtainedAt, expiresAt }: Pick<Tokens, 'obtainedAt' | 'expiresAt'>): number {
  if (expiresAt === null) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(limits.tokenRenewalMs, (expiresAt - obtainedAt) / 5);
}
