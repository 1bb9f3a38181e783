import { describe, expect, it } from 'vitest';
import { readRedirectSchemes, redirectFault } from '../../../src/core/people/redirect-uri.ts';

const { schemes } = readRedirectSchemes([]);
const fault = (uri: string, isPublic = true) => redirectFault(uri, { schemes, isPublic });

describe('a redirect URI', () => {
  it.each([
    'https://client.example.com/callback',
    'https://client.example.com:8443/callback?x=1',
    'http://127.0.0.1:8787/callback',
    'http://127.255.0.1/callback',
    'http://[::1]/callback',
    'http://localhost/callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'CURSOR://anysphere.cursor-mcp/oauth/callback',
    'vscode://publisher.extension/callback?windowId=_blank',
    'vscode-insiders://publisher.extension/callback',
    'windsurf://codeium.windsurf/callback',
    'zed://mcp/oauth/callback',
    'warp://mcp/oauth2callback',
    'com.raycast:/oauth?package_name=x',
    'raycast://oauth?package_name=x',
    'claude://callback',
  ])('may be %s', (uri) => {
    expect(fault(uri)).toBeNull();
  });

  it.each([
    'javascript:alert(1)',
    'JAVASCRIPT:alert(1)',
    'java\tscript:alert(1)',
    ' javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'file://server/share',
    'blob:https://client.example.com/1',
    'filesystem:https://client.example.com/temporary/x',
    'vbscript:msgbox(1)',
    'about:blank',
    'view-source:https://client.example.com/',
    'jar:https://client.example.com!/x',
    'intent://x#Intent;scheme=http;end',
    'android-app://com.example/x',
    'ms-settings:privacy',
    'ms-msdt:/id',
    'ms-officecmd:x',
    'ms-word:ofe|u|https://x',
    'search-ms:query=x',
    'search:query=x',
    'shell:startup',
    'x-apple.systempreferences:x',
    'itms-services://?action=download-manifest',
    'chrome://settings',
    'chrome-extension://abc/x.html',
    'devtools://devtools',
    'web+app:x',
    'ws://client.example.com/',
    'wss://client.example.com/',
    'ftp://client.example.com/',
    'ssh://client.example.com/',
    'smb://client.example.com/x',
    'ldap://client.example.com/x',
    'mailto:x@example.com',
    'tel:112',
    'sms:112',
    'urn:ietf:wg:oauth:2.0:oob',
    'cursor://user@host/callback',
    'cursor://user:pass@host/callback',
    'cursor://host/callback#',
    'https://client.example.com/callback#x',
    'https://user@client.example.com/callback',
    'cursor://host/a b',
    'cursor://host/a\nb',
    'cursor://host/"><script>',
    'cursor://host/a\\b',
    'cursor://h\u00f6st/callback',
    'cursor://host/\u202e',
    '/callback',
    'callback',
    '',
    '//client.example.com/callback',
    'https://',
  ])('is never %j', (uri) => {
    expect(fault(uri)?.isInvalid).toBe(true);
  });

  it.each([
    'http://client.example.com/callback',
    'http://localhost.example.com/callback',
    'http://127.0.0.1.example.com/callback',
    'http://192.168.0.1/callback',
    'http://0.0.0.0/callback',
    'unknown:/callback',
    'com.example.app:/callback',
    'cursor:callback',
    'cursor:',
    'cursors://host/callback',
  ])('is unusable, but harmless beside others: %s', (uri) => {
    expect(fault(uri)).toMatchObject({ isInvalid: false });
  });

  it('has a private-use scheme only for a client without a secret', () => {
    expect(fault('cursor://host/callback', false)).toMatchObject({ isInvalid: false });
    expect(fault('https://client.example.com/callback', false)).toBeNull();
  });
});

describe('the setting', () => {
  it('replaces the known schemes, extends them with "default", or allows none', () => {
    expect(readRedirectSchemes(['my-app', 'Com.Example.App:', 'other://']).schemes).toEqual(['my-app', 'com.example.app', 'other']);
    expect(readRedirectSchemes(['default', 'my-app']).schemes).toEqual([...schemes, 'my-app']);
    expect(readRedirectSchemes(['none'])).toEqual({ schemes: [], refused: [] });
    expect(schemes).toEqual(expect.arrayContaining(['cursor', 'vscode', 'vscode-insiders', 'windsurf', 'zed', 'warp']));
  });

  it.each(['javascript', 'data:', 'FILE', 'http', 'https', 'ws', 'blob', 'about', 'intent', 'ms-settings', 'search-ms', 'vbscript'])(
    'never allows %s',
    (scheme) => {
      expect(readRedirectSchemes([scheme, 'my-app'])).toMatchObject({ schemes: ['my-app'], refused: [`"${scheme}" is never allowed`] });
    },
  );

  it.each(['my app', '*', 'cursor://host', 'https://x', '1app', '-', 'a/b', 'app;x'])('refuses %s, which is no scheme', (scheme) => {
    expect(readRedirectSchemes([scheme])).toMatchObject({ schemes: [], refused: [`"${scheme}" is not a URI scheme`] });
  });
});
