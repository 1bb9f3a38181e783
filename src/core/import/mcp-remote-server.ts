/** A remote MCP server in the file of an MCP client: its URL, headers and OAuth client. Credentials in any of them become secrets. */
import { isRecord, type Json } from '../json/wire-value.ts';
import { quoted } from '../problem.ts';
import { onlyVariable, placeholder, withDefaults } from '../project/expand-variables.ts';
import { credentialsInUrl, isCredentialInPath, isCredentialName, isPlaceholder, mayBeCredential } from '../secrets/credentials.ts';
import { secretHostOf } from '../secrets/secret.ts';
import { toBase64 } from '../text/bytes.ts';
import { fill, namedValues, type ServerReading, ServerRefusal, secretOf } from './mcp-values.ts';
import type { Members, WrittenValue } from './members.ts';
import type { OwnVariables } from './variables.ts';

/** `env`: variables of the entry, which fill in those of the URL and headers. */
export type RemoteEntry = { url: string; path: string; headers: readonly WrittenValue[]; env: Members | null };

/** The members of a remote server that a command does not have. */
export const remoteMembers = [
  ...[
    'headers',
    'http_headers',
    'env_http_headers',
    'bearer_token_env_var',
    'requestInit',
    'requestOptions',
    'apiKey',
    'bearerToken',
    'headersHelper',
  ],
  ...[
    'auth',
    'oauth',
    'oauthScopes',
    'oauth_scopes',
    'scopes',
    'oauth_resource',
    'authProviderType',
    'targetAudience',
    'targetServiceAccount',
  ],
];

/** Returns the headers of an entry under the names that the clients have for them. */
export function headersOf(members: Members): WrittenValue[] {
  const nested = members.record('requestInit', 'requestOptions');
  const maps = [members.record('headers', 'http_headers'), nested?.record('headers') ?? null];
  nested?.skipOthers('has no counterpart: requests are sent with the settings of Moniker');
  const plain = maps.flatMap((map) => map?.values() ?? []);
  // Codex: the names of the variables that have the values.
  const named = members.record('env_http_headers')?.values() ?? [];
  const fromVariables = named.map((header) => ({ ...header, text: placeholder(header.text) }));
  const variable = members.text('bearer_token_env_var');
  const key = members.text('apiKey', 'bearerToken');
  const token = variable !== null && variable !== '' ? `\${${variable}}` : (key ?? '');
  const path = members.pathOf(variable !== null ? 'bearer_token_env_var' : members.has('apiKey') ? 'apiKey' : 'bearerToken');
  return [...plain, ...fromVariables, ...(token === '' ? [] : [{ name: 'Authorization', text: `Bearer ${token}`, path }])];
}

export function remoteServer(reading: ServerReading, { url, path, headers: written, env }: RemoteEntry): Json {
  const used = new Set<string>();
  const own: OwnVariables = (name) => {
    const value = env?.peek(name);
    if (typeof value !== 'string') return null;
    used.add(name);
    return fill(reading, value).text;
  };
  const { target, host } = readUrl(reading, { url, path }, own);
  const names = (name: string): string[] => [`${reading.written}_${/^authorization$/i.test(name) ? 'token' : name}`];
  const headers = namedValues(reading, written, { names, host, own });
  takeUser(reading, target, headers, host, path);
  const query = takeQuery(reading, target, host, path);
  if (target.search.includes('${')) throw notAUrl(url);
  const oauth = oauthOf(reading);
  for (const name of env?.names() ?? []) used.has(name) ? env?.ignore(name) : env?.skip([name], 'is not used: the server has a url');
  return {
    kind: 'mcp',
    url: target.href,
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(query.size > 0 && { query: Object.fromEntries(query) }),
    ...(oauth !== null && { oauth }),
  };
}

function readUrl(reading: ServerReading, { url, path }: { url: string; path: string }, own: OwnVariables): { target: URL; host: string } {
  const filled = withDefaults(fill(reading, url, own).text);
  const target = URL.parse(filled);
  if (target === null || filled.replace(/\?.*/s, '').includes('${') || /[<>]|%3C|\{|%7B/i.test(target.host + target.pathname))
    throw notAUrl(url);
  if (!/^https?:$/.test(target.protocol))
    throw new ServerRefusal(`has a url with ${quoted(target.protocol)}; only http and https are supported`);
  if (isCredentialInPath(target))
    reading.notes.push([
      path,
      'contains a credential in its path, which stays there: GET does not show it. If the server accepts it in a header, store it as a secret',
    ]);
  return { target, host: secretHostOf(target.href) };
}

/** Credentials in the query of a URL become secrets, since GET shows the URL. */
function takeQuery(reading: ServerReading, target: URL, host: string, path: string): Map<string, { secret: string }> {
  const { parameters } = credentialsInUrl(target);
  const query = new Map<string, { secret: string }>();
  for (const [name, value] of [...target.searchParams]) {
    const variable = onlyVariable(value);
    if (query.has(name) || !(parameters.includes(name) || (variable !== null && isCredentialName(variable)))) continue;
    target.searchParams.delete(name);
    const names = [...(variable === null ? [] : [variable]), `${reading.written}_${name}`];
    query.set(name, secretOf(reading, { names, value: isPlaceholder(value) ? null : value, path, host }));
  }
  return query;
}

/** Of the URL, the message shows what is no credential: the host. */
function notAUrl(url: string): ServerRefusal {
  const [, scheme = '', host = ''] = /^([a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#@]*@)?([^/?#]{0,100})/i.exec(url) ?? [];
  const shown = mayBeCredential('', host) ? '' : `: ${quoted(scheme + host)}…`;
  return new ServerRefusal(`has a url that is no URL as it is${shown}. Write the whole URL`);
}

/** A user and password in a URL are the credentials of HTTP Basic (RFC 7617). */
function takeUser(reading: ServerReading, target: URL, headers: Map<string, unknown>, host: string, path: string): void {
  if (target.username === '' && target.password === '') return;
  const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
  target.username = '';
  target.password = '';
  if ([...headers.keys()].some((name) => name.toLowerCase() === 'authorization')) {
    reading.notes.push([path, 'the user and password of its url are not used, since it has the header Authorization']);
    return;
  }
  const value = `Basic ${toBase64(new TextEncoder().encode(pair))}`;
  headers.set('authorization', secretOf(reading, { names: [`${reading.written}_TOKEN`], value, path, host }));
}

const oauthMembers = ['auth', 'oauth'];

/** Cursor: `auth: {CLIENT_ID, CLIENT_SECRET, scopes}`; Claude Code, Kiro, Gemini CLI, opencode, Amp: `oauth: {clientId, …}`; Codex: `scopes`. */
function oauthOf(reading: ServerReading): Json | null {
  const { members } = reading;
  for (const name of oauthMembers) {
    // `oauth: false` only keeps a client from signing in by itself, and `auth: "oauth"` says what the server asks for anyway.
    const value = members.peek(name);
    if (typeof value === 'boolean' || value === 'oauth') members.ignore(name);
  }
  const given = isRecord(members.peek('auth')) || isRecord(members.peek('oauth')) ? members.record(...oauthMembers) : null;
  const clientId = given?.text('clientId', 'CLIENT_ID', 'client_id') ?? '';
  const clientSecret = given?.text('clientSecret', 'CLIENT_SECRET', 'client_secret') ?? '';
  const scopes = scopesOf(given, 'scopes', 'scope') ?? scopesOf(members, 'oauthScopes', 'oauth_scopes', 'scopes') ?? [];
  given?.skip(['accessToken', 'refreshToken', 'pendingAuthorization'], 'is not taken: sign in once more');
  given?.skip(['callbackPort', 'redirectUri', 'redirect_uri', 'enabled'], 'has no counterpart: sign-ins return to Moniker');
  given?.skip(
    [
      'authorizationEndpoint',
      'tokenEndpoint',
      'revocationEndpoint',
      'dynamicRegistration',
      'resource',
      'authorizationUrl',
      'tokenUrl',
      'authUrl',
      'authServerMetadataUrl',
      'issuer',
      'registrationUrl',
      'tokenParamName',
      'audiences',
    ],
    'is not used: the server says where to sign in (RFC 9728)',
  );
  members.skip(['oauth_resource', 'authProviderType', 'targetAudience', 'targetServiceAccount', 'headersHelper'], 'has no counterpart');
  if (given === null && scopes.length === 0) return null;
  return signIn(reading, { clientId, clientSecret, scopes, path: given?.path ?? '' });
}

type WrittenClient = { clientId: string; clientSecret: string; scopes: readonly string[]; path: string };

export function signIn(reading: ServerReading, { clientId, clientSecret, scopes, path }: WrittenClient): Json {
  return {
    grant: 'authorization_code',
    ...(clientId !== '' && { clientId: fill(reading, clientId).text }),
    ...(clientSecret !== '' && { clientSecret: clientSecretOf(reading, clientSecret, path) }),
    ...(scopes.length > 0 && { scopes }),
  };
}

/** The host of the token endpoint is not known, so that the secret is bound to none. */
function clientSecretOf(reading: ServerReading, text: string, path: string): { secret: string } {
  const value = isPlaceholder(text) ? null : fill(reading, text).text;
  reading.notes.push([path, 'the client secret has to be bound to the host of the token endpoint']);
  return secretOf(reading, { names: [`${reading.written}_CLIENT_SECRET`], value, path });
}

/** A list, or a text with blanks between them. */
function scopesOf(members: Members | null, ...names: string[]): string[] | null {
  const given = members?.texts(...names) ?? null;
  return given === null ? null : given.flatMap((scope) => scope.split(/\s+/)).filter((scope) => scope !== '');
}
