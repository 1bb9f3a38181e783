/** What an authorization server is told of us (RFC 7591 §2), when we register and where we show it. */

/** Also what `GET /oauth/client.json` shows. */
export function clientMetadata(redirectUri: string, authMethod: string) {
  return {
    client_name: 'Moniker',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authMethod,
    // OpenID Connect Registration §2: what comes back to the own machine is a native application's.
    application_type: new URL(redirectUri).protocol === 'https:' ? 'web' : 'native',
  };
}
