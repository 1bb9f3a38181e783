/**
 * One MCP server as the files of MCP clients describe it: a command with arguments and environment, or a URL with headers. Their members
 * differ little, so that one reader understands those of all clients.
 */
import { isRecord, type Json, listOf, recordOf } from '../json/wire-value.ts';
import { limits } from '../limits/limits.ts';
import { quoted } from '../problem.ts';
import { secretHostOf } from '../secrets/secret.ts';
import { toBase64 } from '../text/bytes.ts';
import { credentialArguments, credentialsInUrl, isCredentialFor, isCredentialName, isPlaceholder } from '../secrets/credentials.ts';
import type { ImportDraft } from './draft.ts';
import { onlyVariable, type Variables } from './variables.ts';

/** Why a server cannot be taken. */
class Refusal extends Error {}

/** Adds the server and returns its name; null if it is skipped. `written`: its name in the file. */
export function addMcpServer(draft: ImportDraft, written: string, entry: unknown, variables: Variables): string | null {
  if (!isRecord(entry)) return skipped(draft, written, 'is not an object with `command` or `url`');
  if (entry.disabled === true || entry.enabled === false) return skipped(draft, written, 'is disabled in the file');
  const reading = { draft, written, variables };
  try {
    const url = [entry.url, entry.serverUrl, entry.httpUrl, entry.endpoint].find((value) => typeof value === 'string' && value !== '');
    if (typeof url === 'string') return draft.add('servers', written, remoteServer(reading, url, entry));
    const command = commandOf(entry);
    if (command === null) return skipped(draft, written, 'has neither `command` nor `url`');
    return draft.add('servers', written, { ...localServer(reading, command), ...timeoutOf(reading, entry) });
  } catch (error) {
    if (error instanceof Refusal) return skipped(draft, written, error.message);
    throw error;
  }
}

type Reading = { draft: ImportDraft; written: string; variables: Variables };
type Command = { command: string; args: unknown; env: unknown; cwd: unknown; envFile: unknown };

function skipped(draft: ImportDraft, written: string, reason: string): null {
  draft.skip(written, reason);
  return null;
}

/** Older files of Zed have `command: {path, args, env}`; some have the command and its arguments in one list. */
function commandOf(entry: Json): Command | null {
  const { command, args, env, environment, cwd, envFile } = entry;
  if (isRecord(command)) return commandOf({ ...entry, command: command.path, args: command.args, env: command.env });
  if (Array.isArray(command)) {
    const [first, ...rest]: unknown[] = command;
    return commandOf({ ...entry, command: first, args: [...rest, ...listOf(args)] });
  }
  return typeof command === 'string' && command.trim() !== '' ? { command, args, env: env ?? environment, cwd, envFile } : null;
}

function localServer(reading: Reading, { command, args, env, cwd, envFile }: Command): Json {
  const { draft, written } = reading;
  if (typeof envFile === 'string') draft.warn(`servers.${written}`, `envFile ${quoted(envFile)} is not read: add its variables to \`env\``);
  const host = `${draft.freeName('servers', written)}.stdio`;
  const texts = listOf(args).map((argument) => fill(reading, scalarText(argument, '`args`')).text);
  const hidden = credentialArguments(texts);
  const variables = Object.entries(recordOf(env)).filter(([, value]) => value !== null && value !== undefined);
  return {
    kind: 'mcp',
    command: fill(reading, command).text,
    ...(texts.length > 0 && {
      args: texts.map((text, index) =>
        hidden.has(index) ? { secret: draft.secret(argumentNames(written, texts, index), isPlaceholder(text) ? null : text, host) } : text,
      ),
    }),
    ...(variables.length > 0 && {
      env: Object.fromEntries(
        variables.map(([name, value]) => [name, named(reading, name, scalarText(value, `\`env.${name}\``), [name], host)]),
      ),
    }),
    ...(typeof cwd === 'string' && cwd !== '' && { cwd: fill(reading, cwd).text }),
  };
}

function remoteServer(reading: Reading, url: string, entry: Json): Json {
  const { written } = reading;
  const filled = fill(reading, url).text.replace(/\$\{[A-Za-z_]\w*:-([^}]*)\}/g, '$1');
  const target = URL.parse(filled);
  if (target === null || filled.replace(/\?.*/s, '').includes('${')) throw notAUrl(url);
  if (!/^https?:$/.test(target.protocol)) throw new Refusal(`has a url with ${quoted(target.protocol)}; only http and https are supported`);
  const host = secretHostOf(target.href);
  const headers = new Map<string, unknown>();
  for (const [name, value] of Object.entries(recordOf(entry.headers ?? entry.requestInit)))
    if (value !== null && typeof value !== 'object')
      headers.set(
        name,
        named(reading, name, scalarText(value, `the header ${name}`), [written, name === 'Authorization' ? 'token' : name], host),
      );
  takeUser(reading, target, headers, host);
  const query = takeQuery(reading, target, host);
  if (target.search.includes('${')) throw notAUrl(url);
  const oauth = oauthOf(reading, entry);
  return {
    kind: 'mcp',
    url: target.href,
    ...(headers.size > 0 && { headers: Object.fromEntries(headers) }),
    ...(query.size > 0 && { query: Object.fromEntries(query) }),
    ...(oauth !== null && { oauth }),
    ...timeoutOf(reading, entry),
  };
}

/** Credentials in the query of a URL become secrets, since GET shows the URL. */
function takeQuery({ draft, written }: Reading, target: URL, host: string): Map<string, { secret: string }> {
  const { parameters } = credentialsInUrl(target);
  const query = new Map<string, { secret: string }>();
  for (const [name, value] of [...target.searchParams]) {
    const variable = onlyVariable(value);
    if (query.has(name) || !(parameters.includes(name) || (variable !== null && isCredentialName(variable)))) continue;
    target.searchParams.delete(name);
    const names = [...(variable === null ? [] : [variable]), `${written}_${name}`];
    query.set(name, { secret: draft.secret(names, isPlaceholder(value) ? null : value, host) });
  }
  return query;
}

function notAUrl(url: string): Refusal {
  return new Refusal(`has a url that is no URL as it is: ${quoted(url)}. Write the whole URL`);
}

/** A user and password in a URL are the credentials of HTTP Basic (RFC 7617). */
function takeUser({ draft, written }: Reading, target: URL, headers: Map<string, unknown>, host: string): void {
  if (target.username === '' && target.password === '') return;
  const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
  target.username = '';
  target.password = '';
  const value = `Basic ${toBase64(new TextEncoder().encode(pair))}`;
  if (![...headers.keys()].some((name) => name.toLowerCase() === 'authorization'))
    headers.set('authorization', { secret: draft.secret([`${written}_TOKEN`], value, host) });
}

/** Cursor: `auth: {CLIENT_ID, CLIENT_SECRET, scopes}`; Claude Code and Kiro: `oauth: {clientId, …}`. */
function oauthOf(reading: Reading, { auth, oauth, oauthScopes }: Json): Json | null {
  const given = isRecord(auth) ? auth : recordOf(oauth);
  const clientId = given.CLIENT_ID ?? given.clientId ?? given.client_id;
  const clientSecret = given.CLIENT_SECRET ?? given.clientSecret ?? given.client_secret;
  const scopes = listOf(given.scopes ?? oauthScopes).filter((scope) => typeof scope === 'string');
  if (typeof clientId !== 'string' && scopes.length === 0 && Object.keys(given).length === 0) return null;
  if (typeof clientSecret === 'string')
    reading.draft.warn(
      `servers.${reading.written}`,
      'the client secret is stored as a secret: bind it to the host of the token endpoint if that is another one',
    );
  return {
    grant: 'authorization_code',
    ...(typeof clientId === 'string' && clientId !== '' && { clientId: fill(reading, clientId).text }),
    ...(typeof clientSecret === 'string' &&
      clientSecret !== '' && {
        clientSecret: { secret: reading.draft.secret([`${reading.written}_CLIENT_SECRET`], fill(reading, clientSecret).text) },
      }),
    ...(scopes.length > 0 && { scopes }),
  };
}

/** Milliseconds; below 1,000 it is seconds, as some clients write it. */
function timeoutOf({ draft, written }: Reading, { timeout, timeoutMs }: Json): Json {
  const given = typeof timeoutMs === 'number' ? timeoutMs : timeout;
  if (typeof given !== 'number' || !Number.isFinite(given) || given <= 0) return {};
  const wanted = Math.round(Math.max(given < 1_000 ? given * 1_000 : given, 1_000));
  const most = limits.maxServerTimeoutMs;
  if (wanted > most) draft.warn(`servers.${written}.timeoutMs`, `${wanted} is more than ${most}, which is used`);
  return { timeoutMs: Math.min(wanted, most) };
}

/** Returns the text, or the secret that has it. `names`: for the secret, the parts of its name. */
function named(reading: Reading, key: string, written: string, names: readonly string[], host?: string): unknown {
  const filled = reading.variables.rewrite(written);
  if ('fault' in filled && isCredentialName(key)) {
    // A secret has a place for the value, which other texts have not.
    return { secret: reading.draft.secret([names.join('_'), `${reading.written}_${names.join('_')}`], null, host) };
  }
  const { text, isSecret } = fill(reading, written);
  const variable = onlyVariable(text);
  const isHidden = isSecret || isCredentialFor(key, text) || (variable !== null && isCredentialName(variable));
  if (!isHidden) return text;
  const own = names.join('_');
  const value = isPlaceholder(text) ? null : text;
  return { secret: reading.draft.secret(variable === null ? [own, `${reading.written}_${own}`] : [variable, own], value, host) };
}

function fill({ variables }: Reading, text: string): { text: string; isSecret: boolean } {
  const filled = variables.rewrite(text);
  if ('fault' in filled) throw new Refusal(filled.fault);
  return filled;
}

function scalarText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new Refusal(`has ${what} that is not text`);
}

/** `--api-key x` → `<server>_API_KEY`. */
function argumentNames(written: string, args: readonly string[], index: number): string[] {
  const own = /^(?:--?)?([A-Za-z_][\w.-]*)(?:=|:(?!\/\/))/.exec(args[index] ?? '')?.[1];
  const before = /^--?([A-Za-z][\w.-]+)$/.exec(args[index - 1] ?? '')?.[1];
  const isUrl = /:\/\//.test(args[index] ?? '');
  return [`${written}_${own ?? before ?? (isUrl ? 'url' : `argument_${index + 1}`)}`];
}
