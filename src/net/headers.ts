/**
 * Header rules: which headers a model may set on a request, which are kept on a redirect to another origin, and the headers and the query of
 * a server's document. Names are lower case throughout.
 */
import { limits } from '../core/limits/limits.ts';
import { type Issue, Problem } from '../core/problem.ts';
import { KB } from '../core/limits/units.ts';
import { secretHostOf } from '../core/secrets/secret.ts';
import type { ServerAccess } from '../core/servers/server.ts';

/** For one header that a model sets; servers refuse larger ones in practice. */
const maxHeaderValueLength = 8 * KB;
const maxModelHeaders = 32;

/**
 * Returns an issue for each header of a model that may not be sent, or an empty list. `mayAuthenticate`: a client or an administrator set
 * the headers, so `authorization` may be sent.
 */
export function checkModelHeaders(headers: Readonly<Record<string, string>>, mayAuthenticate = false): Issue[] {
  const names = Object.keys(headers);
  if (names.length > maxModelHeaders) return [{ path: 'headers', message: `at most ${maxModelHeaders} headers` }];
  return names.flatMap((name) => {
    const message = headerFault(name.toLowerCase(), headers[name] ?? '', mayAuthenticate);
    return message === null ? [] : [{ path: `headers[${JSON.stringify(name.slice(0, limits.maxHeaderNameLength))}]`, message }];
  });
}

/** Returns the headers that may be sent to another origin: none that could be a credential. */
export function headersForOtherOrigin(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => keptAcrossOrigins.has(name)));
}

function headerFault(name: string, value: string, mayAuthenticate: boolean): string | null {
  if (name.length > limits.maxHeaderNameLength || !token.test(name)) return 'not a header name';
  if (value.length > maxHeaderValueLength) return `longer than ${maxHeaderValueLength} characters`;
  // Any character except visible ASCII, space and tab could be altered in transit or end the header.
  if (!/^[\t\x20-\x7e]*$/.test(value)) return 'a header value may contain only visible ASCII, spaces and tabs';
  if (mayAuthenticate && name === 'authorization') return null;
  if (credentials.test(name))
    return 'credential headers are set by the operator and cannot be set by a call. Preset `headers` in the toolset entry, or call the tool directly to send authorization';
  if (open.has(name)) return null;
  if (name.startsWith('x-') && !reserved.test(name)) return null;
  return `cannot be set by a call; ${[...open].join(', ')} and x-… can`;
}

const token = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
const open: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-type',
  'idempotency-key',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
]);
const credentials = /(^|-)(auth|authorization|cookie2?|credentials?|password|secret|session|signature|token)(-|$)|api-?key/;
/** `x-` names that are reserved for proxies, platforms, metadata services or Moniker. */
const reserved =
  /^x-(forwarded|real-ip|client-ip|cluster-client-ip|original|rewrite|http-method|method-override|host|aws|amz|goog|google|azure|ms|metadata|moniker|accel|sendfile|envoy|cf)/;

const keptAcrossOrigins: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent', 'range', 'x-moniker-hop']);

/**
 * Builds the headers that a server's document adds to each request (`core/secrets/sent-headers.ts`). Secrets are filled in only for the
 * host of the URL. Throws `invalid_request` for an invalid header value, and `not_configured` or `forbidden` for a secret, as `secret`
 * does.
 */
export async function toServerHeaders(
  url: string,
  written: NonNullable<ServerAccess['headers']>,
  secret: (name: string, host: string) => Promise<string>,
): Promise<Headers> {
  const headers = new Headers({ 'user-agent': 'moniker' });
  for (const [name, value] of Object.entries(written)) {
    setHeader(headers, name, typeof value === 'string' ? value : await secret(value.secret, secretHostOf(url)));
  }
  return headers;
}

/** The platform's error for an invalid value contains the value, so it is replaced. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch (cause) {
    const detail = `The header ${name} of the server cannot be sent: its value contains a line break or another character that is invalid in headers.`;
    throw new Problem('invalid_request', detail, {}, { cause: cause instanceof Error ? cause.name : undefined });
  }
}

/**
 * Adds the query of a server's document to a URL, as the last step before the request is sent: the result may contain secrets, and other code
 * names URLs in errors. A parameter of the same name is replaced, so that a model cannot override it. Throws as `toServerHeaders`.
 */
export async function withServerQuery(
  url: string,
  written: NonNullable<ServerAccess['query']>,
  secret: (name: string, host: string) => Promise<string>,
): Promise<string> {
  const target = new URL(url);
  const added: string[] = [];
  for (const [name, value] of Object.entries(written)) {
    // Only then: a changed `searchParams` writes the other parameters in another form.
    if (target.searchParams.has(name)) target.searchParams.delete(name);
    const text = typeof value === 'string' ? value : await secret(value.secret, secretHostOf(url));
    added.push(`${encodeURIComponent(name)}=${encodeURIComponent(text.toWellFormed())}`);
  }
  if (added.length > 0) target.search = [target.search.slice(1), ...added].filter((part) => part !== '').join('&');
  return target.href;
}
