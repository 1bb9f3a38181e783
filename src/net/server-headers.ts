/**
 * Builds the headers that a server's document adds to each request (`sent-headers.ts`). Secrets are filled in only for the host of the URL.
 * Used by every adapter that calls servers.
 */
import { Problem } from '../core/problem.ts';
import { secretHostOf } from '../core/policy/secret.ts';
import type { Server } from '../core/servers/server.ts';

/** Throws `invalid_request` for an invalid header value, and `not_configured` or `forbidden` for a secret, as `secret` does. */
export async function toServerHeaders(
  url: string,
  written: NonNullable<Server['headers']>,
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
