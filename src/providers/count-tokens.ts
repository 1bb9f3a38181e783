/**
 * How many tokens a request has, asked of the provider that will bill them: the Messages API counts by itself ("Token counting"), and no
 * other kind in this shape. Not an estimate: that is the caller's, where this answers null.
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

/** The provider's own answer; null: it does not count. Throws `Problem` for everything but success. */
export async function countTokens(request: Omit<ProxyRequest, 'signal'>): Promise<Response | null> {
  const { access, dialect, http, clock } = request;
  const adapter = adapterFor(access.kind);
  if (access.kind !== 'anthropic' || adapter.dialect !== dialect.name) return null;
  const headers = { ...adapter.headers, ...request.headers };
  const exchange = { access, path: '/messages/count_tokens', headers, body: outgoingBody(request) };
  const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { callersBody: true }));
  const { bytes, truncated } = await readBounded(response, limits.maxErrorBodyBytes);
  if (truncated) throw malformedProblem(access, 'sent a count that is longer than a count can be');
  const type = response.headers.get('content-type') ?? 'application/json';
  const text = withoutKey(access, new TextDecoder().decode(bytes));
  return new Response(text, { status: 200, headers: { 'content-type': withoutKey(access, type) } });
}
