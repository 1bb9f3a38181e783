/**
 * The headers that a server's document says are sent with each request to it (`sent-headers.ts`), secrets filled in for the host of the
 * address and no other. Used by every adapter that speaks with a server.
 */
import { Problem } from '../core/problem.ts';
import { secretHostOf } from '../core/secret.ts';
import type { Server } from '../core/servers/server.ts';

/** Throws `invalid_request` for a value that no header may have, `not_configured` or `forbidden` for a secret, as `secret` does. */
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

/** What the platform says of a value that cannot be sent has the value in it. */
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch (cause) {
    const detail = `The header ${name} of its server cannot be sent: its value holds a line break or another character that no header may have.`;
    throw new Problem('invalid_request', detail, {}, { cause: cause instanceof Error ? cause.name : undefined });
  }
}
