/**
 * Counts the tokens of a request at its provider: only the Messages API has an endpoint for it ("Token counting"). Returns null for others;
 * then the caller estimates.
 */
import { limits } from '../core/limits.ts';
import { readBounded } from '../net/read-bounded.ts';
import { malformedProblem } from './provider-error.ts';
import { withoutKey } from './provider-secrets.ts';
import type { ProxyRequest } from './proxy.ts';
import { outgoingBody } from './proxy.ts';
import { adapterFor } from './registry.ts';
import { withRetries } from './retry.ts';
import { openHead } from './transport.ts';

/** Returns the provider's response; null: it cannot count. Throws `Problem` for everything but success. */
export async function countTokens(request: Omit<ProxyRequest, 'signal'>): Promise<Response | null> {
  const { access, dialect, http, clock } = request;
  const adapter = adapterFor(access.kind);
  if (access.kind !== 'anthropic' || adapter.dialect !== dialect.name) return null;
  const headers = { ...adapter.headers, ...request.headers };
  const exchange = { access, path: '/messages/count_tokens', headers, body: outgoingBody(request) };
  const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { callersBody: true }));
  const { bytes, truncated } = await readBounded(response, limits.maxErrorBodyBytes);
  if (truncated) throw malformedProblem(access, 'sent a token count that is too long');
  const type = response.headers.get('content-type') ?? 'application/json';
  const text = withoutKey(access, new TextDecoder().decode(bytes));
  return new Response(text, { status: 200, headers: { 'content-type': withoutKey(access, type) } });
}
