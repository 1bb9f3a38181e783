/** Revokes tokens at their issuer (RFC 7009), if its metadata has the endpoint. The SDK has no function for it. */
import { selectClientAuthMethod } from '@modelcontextprotocol/client';
import { withSecret } from './client.ts';
import type { OAuthContext } from './context.ts';
import { createOAuthExchange } from './exchange.ts';
import type { Client, Tokens } from './grant.ts';

/** Best effort: the tokens are deleted here in any case. */
export async function revoke(context: OAuthContext, tokens: Tokens): Promise<void> {
  const { issuer } = tokens;
  const endpoint = issuer.metadata?.revocation_endpoint;
  if (endpoint === undefined) return;
  try {
    await createOAuthExchange(context, 'revoking tokens', async (exchange) => {
      // A secret of the workspace is bound to the host of the token endpoint and is not sent to another host.
      const isThere = new URL(endpoint).host === new URL(issuer.metadata?.token_endpoint ?? endpoint).host;
      const client = isThere ? await withSecret(context, tokens.client, issuer, exchange) : { client_id: tokens.client.client_id };
      const token = exchange.hide(tokens.refreshToken ?? tokens.accessToken);
      const hint = tokens.refreshToken === null ? 'access_token' : 'refresh_token';
      const { headers, body } = authenticated(client, issuer.metadata?.token_endpoint_auth_methods_supported ?? []);
      body.set('token', token);
      body.set('token_type_hint', hint);
      const answer = await exchange.fetch(endpoint, { method: 'POST', headers, body });
      if (!answer.ok) context.log.info('tokens were not revoked', { server: context.server.name, status: answer.status });
    });
  } catch (error) {
    context.log.info('tokens were not revoked', { server: context.server.name, reason: String(error) });
  }
}

/** Uses the SDK's choice of authentication method for token endpoints. */
function authenticated(client: Client, supported: string[]): { headers: Headers; body: URLSearchParams } {
  const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' });
  const method = selectClientAuthMethod(client, supported);
  if (method === 'client_secret_basic' && client.client_secret !== undefined) {
    headers.set('authorization', `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}`);
    return { headers, body: new URLSearchParams() };
  }
  const secret = method === 'client_secret_post' ? client.client_secret : undefined;
  return { headers, body: new URLSearchParams({ client_id: client.client_id, ...(secret !== undefined && { client_secret: secret }) }) };
}
