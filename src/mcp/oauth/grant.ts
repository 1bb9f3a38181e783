/**
 * The stored sign-in of one server as JSON; the Catalog encrypts it and does not read it. It belongs to the URL and client that it was made
 * for: if the server's document has changed these, the grant is ignored, so that a token is never sent to another server.
 */
import * as z from 'zod';
import { limits } from '../../core/limits/limits.ts';
import type { ServerOAuth } from '../../core/servers/server-oauth.ts';
import { Problem } from '../../core/problem.ts';
import type { OAuthContext } from './exchange.ts';
import { retry } from '../../engine/retry.ts';

/** A token is renewed this long before it expires, or after four fifths of its lifetime if that is shorter. */
const tokenRenewalMs = 60_000;
const maxMetadataItems = 200;

const Text = z.string().max(limits.maxUrlLength);
const Items = z.array(z.string().max(1_000)).max(maxMetadataItems).optional().catch(undefined);

/** RFC 8414: the members in use, under their wire names. */
const IssuerMetadata = z.object({
  issuer: Text,
  authorization_endpoint: Text,
  token_endpoint: Text,
  registration_endpoint: Text.optional(),
  revocation_endpoint: Text.optional(),
  response_types_supported: z.array(z.string().max(1_000)).max(maxMetadataItems),
  code_challenge_methods_supported: Items,
  token_endpoint_auth_methods_supported: Items,
  scopes_supported: Items,
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
});

/** The authorization server of an MCP server, as discovered. `metadata` null: it publishes none (servers before 2025-06-18). */
export const Issuer = z.object({
  url: Text,
  metadata: IssuerMetadata.nullable(),
  /** RFC 9728, if the server supports it. */
  resource: z.object({ id: Text, scopes: Items }).nullable(),
});
export type Issuer = z.infer<typeof Issuer>;

/** Our client at an issuer. A secret set by an administrator is not included: it is read each time, for the host it is sent to. */
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
  /** Milliseconds since the epoch; null: the client secret does not expire. */
  expiresAt: z.number().nullable(),
});

const Tokens = z.object({
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  scope: z.string().nullable(),
  /** Milliseconds since the epoch; null: unknown. */
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

/** The server's challenge for a rejected request: the URL of its metadata and the scope. */
const Hint = z.object({ resourceMetadataUrl: Text.nullable(), scope: z.string().max(limits.maxUrlLength).nullable() });
export type Hint = z.infer<typeof Hint>;

const Grant = z.object({
  for: z.string(),
  hint: Hint.nullable(),
  registrations: z.array(Registration).max(limits.maxRegistrations),
  tokens: Tokens.nullable(),
  /** OAuth error code of the reason why the tokens were dropped: the user has to sign in again. */
  lost: z.string().nullable(),
  signIn: SignIn.nullable(),
  /** Another request is getting new tokens, and has until this time. */
  renewedUntil: z.number().nullable(),
});
export type Grant = z.infer<typeof Grant>;

type Whose = { url: string; oauth: ServerOAuth };

/** Returns an empty grant for null and for a grant of another URL. One that cannot be read is lost, and says so. Never throws. */
function parseGrant(value: string | null, whose: Whose): Grant {
  if (value === null) return emptyGrant(whose);
  // Written and encrypted by us: what does not fit was written by another release.
  const { success, data } = Grant.safeParse(JSON.parse(value));
  if (!success) return { ...emptyGrant(whose), lost: 'unreadable_grant' };
  return data.for === ownerOf(whose) ? data : emptyGrant(whose);
}

function emptyGrant(whose: Whose): Grant {
  return { for: ownerOf(whose), hint: null, registrations: [], tokens: null, lost: null, signIn: null, renewedUntil: null };
}

/** Tokens of `client_credentials` are requested anew when the scopes change; a user sign-in is kept. */
function ownerOf({ url, oauth }: Whose): string {
  const scopes = oauth.grant === 'client_credentials' ? (oauth.scopes ?? null) : null;
  return JSON.stringify([url, oauth.grant, oauth.clientId ?? null, scopes]);
}

/** A safety margin before the expiry, so that no token expires in transit. */
export function freshUntil({ obtainedAt, expiresAt }: Pick<Tokens, 'obtainedAt' | 'expiresAt'>): number {
  if (expiresAt === null) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(tokenRenewalMs, (expiresAt - obtainedAt) / 5);
}

/** Reads and changes the stored grant of a server. Of two concurrent writers, the second reads again and retries. */
type KnownGrant = { grant: Grant; revision: number };

export async function readStoredGrant({ grants, server, owner }: OAuthContext): Promise<KnownGrant> {
  const { value, revision } = await grants.serverGrant(server.name, owner);
  return { grant: parseGrant(value, server), revision };
}

/** Returns false if another write happened since `revision`. */
export async function writeGrant({ grants, server, owner }: OAuthContext, grant: Grant | null, revision: number): Promise<boolean> {
  const isConnected = grant !== null && grant.tokens !== null;
  const value = grant === null ? null : JSON.stringify(grant);
  return await grants.saveServerGrant(server.name, { value, revision, ...(owner !== undefined && { isConnected }) }, owner);
}

/** The workspace's grant has what all users of a server share: our registered clients, and the hint of the server's challenge. */
export function sharedBy({ owner: _owner, ...context }: OAuthContext): OAuthContext {
  return context;
}

/** Applies `change` to the current grant; if it returns null, nothing is written. Returns the grant that `change` received. */
export async function changeGrant(context: OAuthContext, change: (grant: Grant) => Grant | null): Promise<Grant> {
  const lost = new Problem('conflict', `The sign-in to ${context.server.name} is being changed concurrently. Try again.`, {
    retryable: true,
  });
  const policy = { maxRetries: maxLostWrites, delayMs: (error: unknown) => (error === lost ? 0 : null) };
  return await retry(context, policy, async () => {
    const { grant, revision } = await readStoredGrant(context);
    const changed = change(grant);
    if (changed === null || (await writeGrant(context, changed, revision))) return grant;
    throw lost;
  });
}

/** Each means that another writer has made progress. */
const maxLostWrites = 19;
