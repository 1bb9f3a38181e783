/**
 * From the `Authorization` header to the `Principal`, and the scope that a route asks for. On the paths that Anthropic's stock client
 * calls, which knows no other way, `x-api-key` will do. Keys are taken from nowhere else: a key in a URL ends up in logs.
 */
import { limits } from '../../core/limits.ts';
import { hasScope } from '../../core/principal.ts';
import type { Principal, Scope } from '../../core/principal.ts';
import { Problem } from '../../core/problem.ts';
import type { AppContext } from '../context.ts';

/** The principal of the request, if its key is good and has one of `scopes`. Throws `not_configured`, `unauthenticated`, `forbidden`. `maxAgeMs`: as in `Directory`. */
export async function authenticate(c: AppContext, scopes: readonly Scope[], maxAgeMs?: number): Promise<Principal> {
  const { settings, directory } = c.get('services');
  if (settings.rootKey === null) {
    throw new Problem(
      'not_configured',
      'No root key is set. Set MONIKER_ROOT_KEY to a random text of at least 32 characters (deployed: `wrangler secret put MONIKER_ROOT_KEY`) and use it as the bearer key.',
    );
  }
  const principal = await directory.principal(keyOf(c), maxAgeMs);
  if (!scopes.some((scope) => hasScope(principal, scope))) {
    throw new Problem('forbidden', `This key lacks the scope ${scopes.map((scope) => `"${scope}"`).join(' or ')}.`, {
      scope: scopes.join(' '),
    });
  }
  return principal;
}

/** A bearer key goes before one in `x-api-key`: who sends both has set the first for us, and the other from habit. */
function keyOf(c: AppContext): string {
  const bearer = c.req.header('authorization');
  const isTaken = takesApiKey(c.req.path);
  const apiKey = isTaken ? c.req.header('x-api-key') : undefined;
  if (!isBlank(bearer)) return bearerKey(bearer);
  if (!isBlank(apiKey)) return plainKey(apiKey);
  const also = isTaken ? ' or `x-api-key: <key>`' : '';
  throw new Problem('unauthenticated', `Send the key as \`Authorization: Bearer <key>\`${also}.`, { reason: 'missing' });
}

/** Of a request, or of a route. */
export function takesApiKey(path: string): boolean {
  return /^\/v1\/(messages|models)(\/|$)/.test(path);
}

function isBlank(header: string | undefined): header is undefined {
  return header === undefined || header.trim() === '';
}

/** RFC 6750 §2.1; the scheme in any case, one or more spaces, nothing after the key. */
function bearerKey(header: string): string {
  // The length is checked first, so that no work grows with what a stranger sends.
  const match = header.length > limits.maxKeyBytes + 16 ? null : /^bearer +([\x21-\x7e]+)$/i.exec(header.trim());
  const key = match?.[1];
  if (key === undefined) throw new Problem('unauthenticated', 'The Authorization header must be `Bearer <key>`.', { reason: 'malformed' });
  return key;
}

/** The header is the key, within the bounds of a bearer one. */
function plainKey(header: string): string {
  const key = header.length > limits.maxKeyBytes + 16 ? undefined : /^[\x21-\x7e]+$/.exec(header.trim())?.[0];
  if (key === undefined) throw new Problem('unauthenticated', 'The x-api-key header must be the key alone.', { reason: 'malformed' });
  return key;
}
