/**
 * Registrations of known MCP clients (RFC 7591), in the shape in which they send them. `redirect`: the redirect URI of a sign-in, which may
 * have another port than the registered one.
 */
type Registration = { metadata: { client_name: string; redirect_uris: string[] } & Record<string, unknown>; redirects: string[] };

const codeFlow = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };

export const registrations = {
  Cursor: {
    metadata: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      token_endpoint_auth_method: 'none',
      ...codeFlow,
    },
    redirects: [
      'cursor://anysphere.cursor-mcp/oauth/callback',
      'https://www.cursor.com/agents/mcp/oauth/callback',
      'http://localhost:8787/callback',
    ],
  },
  // microsoft/vscode src/vs/base/common/oauth.ts: it sends the grant types that the server lists.
  'VS Code': {
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'tools',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      ...codeFlow,
    },
    redirects: ['https://vscode.dev/redirect', 'http://127.0.0.1:33418/', 'http://127.0.0.1:50123/'],
  },
  'an extension of VS Code': {
    metadata: {
      client_name: 'Cline',
      redirect_uris: ['vscode://saoudrizwan.claude-dev/mcp-auth/callback/aGVsbG8'],
      token_endpoint_auth_method: 'none',
      ...codeFlow,
    },
    redirects: ['vscode://saoudrizwan.claude-dev/mcp-auth/callback/aGVsbG8'],
  },
  Claude: {
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      scope: 'tools',
      token_endpoint_auth_method: 'client_secret_post',
      ...codeFlow,
    },
    redirects: ['https://claude.ai/api/mcp/auth_callback'],
  },
  'Claude Code': {
    metadata: {
      client_name: 'Claude Code (moniker)',
      redirect_uris: ['http://localhost:52011/callback'],
      token_endpoint_auth_method: 'none',
      ...codeFlow,
    },
    redirects: ['http://localhost:52011/callback', 'http://localhost:61234/callback'],
  },
  ChatGPT: {
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'none',
      ...codeFlow,
    },
    redirects: ['https://chatgpt.com/connector_platform_oauth_redirect'],
  },
  Warp: {
    metadata: {
      client_name: 'Warp',
      redirect_uris: ['warp://mcp/oauth2callback'],
      token_endpoint_auth_method: 'none',
      ...codeFlow,
    },
    redirects: ['warp://mcp/oauth2callback'],
  },
  // RFC 8252 section 7.1: a reverse domain name, and one slash.
  Raycast: {
    metadata: { client_name: 'Raycast', redirect_uris: ['com.raycast:/oauth?package_name=moniker'], ...codeFlow },
    redirects: ['com.raycast:/oauth?package_name=moniker'],
  },
} satisfies Record<string, Registration>;
