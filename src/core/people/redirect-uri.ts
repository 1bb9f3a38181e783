/**
 * Which redirect URIs of MCP clients a code may be sent to: https, http on a loopback address (RFC 8252 section 7.3), and the private-use
 * schemes of native applications (section 7.1) that the operator allows. A private-use scheme has no owner: any program can claim it.
 */
export const redirectSchemesSetting = 'MONIKER_OAUTH_REDIRECT_SCHEMES';

/**
 * The schemes of known native MCP clients, with the program that usually claims each. Sources: `cursor://anysphere.cursor-mcp/oauth/callback`
 * (cloudflare/workers-oauth-provider docs/authorization-server.md; modelcontextprotocol/python-sdk#895), `vscode://` and `vscode-insiders://`
 * for extensions such as Cline (ascending-llc/jarvis-registry#430; VS Code itself uses https and loopback addresses), `windsurf://`
 * (actionhero/keryx#502), `claude://` (laravel/mcp config/mcp.php), `zed://mcp/oauth/callback` (`OAuthCallback::URI` in zed-industries/zed),
 * `warp://mcp/oauth2callback` (warpdotdev), `raycast://oauth` and `com.raycast:/oauth` (developers.raycast.com, OAuth). Goose, LM Studio,
 * Codex and Claude Code use loopback addresses.
 */
const nativeClients = new Map([
  ['cursor', 'Cursor'],
  ['vscode', 'Visual Studio Code'],
  ['vscode-insiders', 'Visual Studio Code Insiders'],
  ['windsurf', 'Windsurf'],
  ['claude', 'Claude'],
  ['zed', 'Zed'],
  ['warp', 'Warp'],
  ['raycast', 'Raycast'],
  ['com.raycast', 'Raycast'],
]);

/** Schemes of the web, and those that browsers or operating systems handle themselves: they run code, open files or start system dialogs. */
const neverAllowed = new Set(
  `http https ws wss ftp ftps sftp file data blob filesystem javascript livescript mocha jscript vbscript about chrome edge opera brave
  resource jar view-source wyciwyg devtools moz-icon moz-extension chrome-extension chrome-untrusted safari-extension extension intent
  android-app content market package itms itms-apps itms-services itmss tel telprompt sms smsto mms mmsto callto facetime facetime-audio
  mailto geo maps webcal feed ssh telnet rlogin tn3270 gopher ldap ldaps smb cifs nfs afp dav davs vnc rdp dict irc ircs news nntp magnet
  search shell shortcuts prefs app-prefs app-settings app hcp help mk its mhtml res local cid mid urn tag ni nih jdbc xmpp sip sips rtsp
  applescript macappstore macappstores addressbook message wscript acrobat onenote`.split(/\s+/),
);
const neverAllowedPrefix = /^(?:ms-|search-ms|web\+|x-apple|chrome-|moz-|about-)/;

const schemeForm = /^[a-z][a-z0-9+.-]*$/;

/**
 * Returns the schemes of the setting, without those that are never allowed (`refused`, with the reason). Absent: those of known clients, which
 * `default` in the list stands for. `none`: no scheme.
 */
export function readRedirectSchemes(entries: readonly string[]): { schemes: readonly string[]; refused: readonly string[] } {
  const schemes = new Set<string>();
  const refused: string[] = [];
  for (const entry of entries.length === 0 ? ['default'] : entries) {
    const scheme = entry
      .trim()
      .toLowerCase()
      .replace(/:(?:\/\/)?$/, '');
    if (scheme === 'default') for (const known of nativeClients.keys()) schemes.add(known);
    else if (!schemeForm.test(scheme)) refused.push(`${JSON.stringify(entry)} is not a URI scheme`);
    else if (isNeverAllowed(scheme)) refused.push(`${JSON.stringify(entry)} is never allowed`);
    else if (scheme !== 'none') schemes.add(scheme);
  }
  return { schemes: [...schemes], refused };
}

function isNeverAllowed(scheme: string): boolean {
  return neverAllowed.has(scheme) || neverAllowedPrefix.test(scheme);
}

/** `isInvalid`: the URI is malformed or dangerous, whatever the setting is, so that no registration may contain it. */
export type RedirectFault = { why: string; isInvalid: boolean };

/** Returns why no code may be sent to this URI, as the end of a sentence; null: it may. `isPublic`: the client has no secret. */
export function redirectFault(uri: string, { schemes, isPublic }: { schemes: readonly string[]; isPublic: boolean }): RedirectFault | null {
  const url = URL.parse(uri);
  const invalid = (why: string): RedirectFault => ({ why, isInvalid: true });
  if (url === null) return invalid('is not an absolute URI');
  const scheme = url.protocol.slice(0, -1);
  const kind = redirectKind(url);
  if (kind === 'dangerous') return invalid(`has the scheme ${scheme}, which is never allowed`);
  if (uri.includes('#')) return invalid('has a fragment');
  if (url.username !== '' || url.password !== '') return invalid('must be without user name and password');
  if (kind === 'https' || kind === 'loopback') return null;
  const unusable = (why: string): RedirectFault => ({ why, isInvalid: false });
  if (kind === 'http') return unusable('must use https, or http on a loopback address');
  // A URL parser would encode, remove or reinterpret other characters, so that the browser would get another URI.
  if (!/^[\w.~:/?[\]@!$&'()*+,;=%-]+$/.test(uri)) return invalid('has characters that a URI cannot contain');
  if (!schemes.includes(scheme))
    return unusable(
      `must use https, http on a loopback address, or a scheme that the operator allows with ${redirectSchemesSetting} (${schemes.join(', ') || 'none'})`,
    );
  if (!url.pathname.startsWith('/') && url.host === '') return unusable(`must have a path: ${scheme}:/…`);
  if (isPublic) return null;
  return unusable('has a private-use scheme, which requires token_endpoint_auth_method "none": a program of the user cannot keep a secret');
}

export type RedirectKind = 'https' | 'loopback' | 'private-use' | 'http' | 'dangerous';

/** `http`: on another host than a loopback address. */
export function redirectKind({ protocol, hostname }: URL): RedirectKind {
  if (protocol === 'https:') return 'https';
  if (protocol === 'http:') return isLoopbackName(hostname) ? 'loopback' : 'http';
  return isNeverAllowed(protocol.slice(0, -1)) ? 'dangerous' : 'private-use';
}

/** The names that native applications listen on (RFC 8252 section 7.3). */
function isLoopbackName(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

/** Returns the program that usually claims a private-use scheme; null: unknown. */
export function usualProgramOf(scheme: string): string | null {
  return nativeClients.get(scheme) ?? null;
}
