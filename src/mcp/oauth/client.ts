/**
 * Chooses our client identity for an authorization server: the client in the server's document; otherwise the URL of our own metadata
 * document, if the issuer supports that (Client ID Metadata Documents); otherwise dynamic registration (RFC 7591), once for each issuer and
 * redirect URI.
 */
import { registerClient } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits/limits.ts';
import { Problem } from '../../core/problem.ts';
import { secretHostOf } from '../../core/secrets/secret.ts';
import { clientMetadata } from './client-metadata.ts';
import { type OAuthContext, createOAuthExchange, type OAuthExchange } from './exchange.ts';
import { issuerId, tokenEndpoint } from './discover.ts';
import type { Client, Grant, Issuer } from './grant.ts';

export type ClientRequest = { issuer: Issuer; redirectUri: string; metadataUrl: string | null; scope: string | null };

/** Returns the client and the registrations for the grant. A secret named in the server's document is not included (`withSecret`). */
export async function clientFor(
  context: OAuthContext,
  known: Grant['registrations'],
  { issuer, redirectUri, metadataUrl, scope }: ClientRequest,
): Promise<{ client: Client; registrations: Grant['registrations'] }> {
  const { clientId } = context.server.oauth;
  if (clientId !== undefined) return { client: { client_id: clientId }, registrations: known };
  if (metadataUrl !== null && issuer.metadata?.client_id_metadata_document_supported === true) {
    return { client: { client_id: metadataUrl }, registrations: known };
  }
  const id = issuerId(issuer);
  const now = context.clock.now();
  const ours = known.find((one) => one.issuer === id && one.redirectUri === redirectUri && (one.expiresAt ?? now + 1) > now);
  if (ours !== undefined) return { client: ours.client, registrations: known };
  const made = await register(context, issuer, redirectUri, scope);
  const others = known.filter((one) => one.issuer !== id).slice(0, limits.maxRegistrations - 1);
  return { client: made.client, registrations: [{ issuer: id, redirectUri, ...made }, ...others] };
}

async function register(context: OAuthContext, issuer: Issuer, redirectUri: string, scope: string | null) {
  if (issuer.metadata !== null && issuer.metadata.registration_endpoint === undefined) {
    const detail = `${issuerId(issuer)} does not support dynamic client registration: register a client there with the redirect URI ${redirectUri}, and set its \`clientId\`.`;
    throw new Problem('upstream_error', detail, { retryable: false });
  }
  return await createOAuthExchange(context, `registering at ${new URL(issuer.url).host}`, async ({ fetch: send }) => {
    const made = await registerClient(issuer.url, {
      ...(issuer.metadata !== null && { metadata: issuer.metadata }),
      clientMetadata: clientMetadata(redirectUri, authMethodOf(issuer)),
      ...(scope !== null && { scope }),
      fetchFn: send,
    });
    const { client_id, client_secret, token_endpoint_auth_method: method, client_secret_expires_at: end } = made;
    if (client_id === '' || client_id.length > 2_000 || (client_secret ?? '').length > limits.maxTokenLength) {
      throw new Problem('upstream_error', 'The authorization server returned a client registration that cannot be used.', {
        retryable: false,
      });
    }
    // A client without a secret is public, whatever authentication method the response repeats.
    const shown = client_secret === undefined ? 'none' : method;
    const client: Client = { client_id, ...(client_secret && { client_secret }), ...(shown && { token_endpoint_auth_method: shown }) };
    return { client, expiresAt: end !== undefined && end > 0 ? end * 1000 : null };
  });
}

/** Returns the strongest method that both sides support; without metadata, the first (RFC 8414 §2). */
function authMethodOf({ metadata }: Issuer): string {
  const taken = metadata?.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return ['client_secret_basic', 'client_secret_post', 'none'].find((method) => taken.includes(method)) ?? 'none';
}

/** Adds the secret named in the server's document, only for the host of the token endpoint. */
export async function withSecret(
  context: OAuthContext,
  client: Client,
  issuer: Issuer,
  exchange: Pick<OAuthExchange, 'hide'>,
): Promise<Client> {
  const { clientId, clientSecret } = context.server.oauth;
  if (clientSecret === undefined || client.client_id !== clientId) {
    if (client.client_secret !== undefined) exchange.hide(client.client_secret);
    return client;
  }
  const value = await context.secret(clientSecret.secret, secretHostOf(tokenEndpoint(issuer)));
  return { ...client, client_secret: exchange.hide(value) };
}
