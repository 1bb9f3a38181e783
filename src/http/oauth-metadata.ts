/** The metadata documents of the authorization server (RFC 8414) and of the MCP endpoints (RFC 9728), and the challenge that names them. */
import { limits } from '../core/limits/limits.ts';
import { GrantScope } from '../core/people/grant.ts';
import { readMcpPath, resourceMetadataPath } from '../core/servers/mcp-resource.ts';
import type { Settings } from '../core/people/settings.ts';
import { issuerOf } from './own-origin.ts';

type OAuthSettings = Pick<Settings, 'publicUrl' | 'localUrl' | 'masterKey'>;

export function serverMetadata(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    scopes_supported: GrantScope.options,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
  };
}

/** `path`: of an MCP endpoint. */
export function resourceMetadata(issuer: string, path: string): Record<string, unknown> {
  const toolset = readMcpPath(path)?.toolset;
  return {
    resource: `${issuer}${path}`,
    authorization_servers: [issuer],
    scopes_supported: ['tools'],
    bearer_methods_supported: ['header'],
    resource_name: toolset == null ? 'Moniker' : `Moniker: ${toolset}`,
  };
}

/** Returns the parameters with which a challenge leads MCP clients to the sign-in; empty where no one can sign in. */
export function signInChallenge(settings: OAuthSettings, url: string, scope = 'tools'): string {
  // The URL of a malformed request is not one.
  const path = URL.parse(url)?.pathname ?? '';
  const issuer = readMcpPath(path) === null ? null : oauthIssuer(settings, url);
  return issuer === null ? '' : `, resource_metadata="${issuer}${resourceMetadataPath(path)}", scope="${scope}"`;
}

/** Returns the issuer for a request; null: MCP clients cannot sign in, because the public URL or the master key is not set. */
export function oauthIssuer(settings: OAuthSettings, url: string): string | null {
  return settings.masterKey === null ? null : issuerOf(settings, url);
}

/** Whether clients of OAuth call this path, and read errors in its format. */
export function isOAuthEndpoint(path: string): boolean {
  return /^\/oauth\/(?:register|token|revoke)$/.test(path);
}

/** RFC 6749 §3.1: a repeated parameter is treated as missing. */
export function singleParameter(query: URLSearchParams, name: string): string | null {
  const [value, ...more] = query.getAll(name);
  return value === undefined || more.length > 0 || value.length > limits.maxUrlLength ? null : value;
}
