/**
 * Which headers may cross: what a model may set on a request, and what survives a redirect to another origin. Names are
 * lower case throughout.
 */
import { limits } from '../core/limits.ts';
import type { Issue } from '../core/problem.ts';

/** Faults of headers that a model wrote, each at its name; empty when all may be sent. */
export function checkModelHeaders(headers: Readonly<Record<string, string>>): Issue[] {
  const names = Object.keys(headers);
  if (names.length > limits.maxModelHeaders) return [{ path: 'headers', message: `at most ${limits.maxModelHeaders} headers` }];
  return names.flatMap((name) => {
    const message = headerFault(name.toLowerCase(), headers[name] ?? '');
    return message === null ? [] : [{ path: `headers[${JSON.stringify(name.slice(0, limits.maxHeaderNameLength))}]`, message }];
  });
}

/** What is left of a request's headers once it is sent to another origin: nothing that could be a credential. */
export function headersForOtherOrigin(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => keptAcrossOrigins.has(name)));
}

function headerFault(name: string, value: string): string | null {
  if (name.length > limits.maxHeaderNameLength || !token.test(name)) return 'not a header name';
  if (value.length > limits.maxHeaderValueLength) return `longer than ${limits.maxHeaderValueLength} characters`;
  // Anything but visible ASCII, blank and tab would be mangled or end the header.
  if (!/^[\t\x20-\x7e]*$/.test(value)) return 'a header value is visible ASCII, blanks and tabs only';
  if (credentials.test(name)) return 'credentials are bound to a host by the operator, a call cannot set them';
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
/** `x-` names that speak for a proxy, a platform, a metadata service or Moniker. */
const reserved =
  /^x-(forwarded|real-ip|client-ip|cluster-client-ip|original|rewrite|http-method|method-override|host|aws|amz|goog|google|azure|ms|metadata|moniker|accel|sendfile|envoy|cf)/;

const keptAcrossOrigins: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent', 'range', 'x-moniker-hop']);
