/** Our client metadata for authorization servers (RFC 7591 §2), for registration and for our metadata document. */

/** Also returned by `GET /oauth/client.json`. */
export function clientMetadata(redirectUri: string, authMethod: string) {
  return {
    client_name: 'Moniker',
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authMethod,
    // OpenID Connect Registration §2: a redirect to the user's own machine means a native application.
    application_type: new URL(redirectUri).protocol === 'https:' ? 'web' : 'native',
  };
}
