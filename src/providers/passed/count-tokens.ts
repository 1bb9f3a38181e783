/** The tokens of a request, as its provider counts them. */
import { limits } from '../../core/limits/limits.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { modelsOf } from '../../core/model/route.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import { splitModelRef } from '../../core/turn/agent.ts';
import { readAllowedProvider } from '../../engine/plan/plan-models.ts';
import type { AskedChat } from '../../engine/proxy/translate-chat.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { accessFor, isUnknownEndpoint, needsOf } from '../api-choice.ts';
import { malformedProblem } from '../provider-error.ts';
import { withoutKey } from '../provider-secrets.ts';
import type { ProxyDeps } from '../proxy.ts';
import type { ProxyRequest } from './forward-chat.ts';
import { adapters } from '../registry.ts';
import { withRetries } from '../retry.ts';
import { openHead } from '../transport.ts';
import { outgoingBody } from './outgoing-body.ts';

/** Returns the provider's count of the request's tokens; null: it cannot count, and the caller estimates. */
export async function countRequestTokens(
  { directory, outbound: http, clock }: Pick<ProxyDeps, 'directory' | 'outbound' | 'clock'>,
  principal: Principal,
  { ref: asked, ...request }: Omit<AskedChat, 'signal' | 'agent'>,
): Promise<Response | null> {
  // The models of a route count alike, or nothing better is known.
  const [ref = ''] = modelsOf(asked);
  const { access } = await readAllowedProvider(directory, principal, ref);
  const { model } = splitModelRef(ref);
  const sent = accessFor(access, model, needsOf(request.body, request.dialect.name), clock.now());
  return await ifKnown(sent, () => countTokens({ ...request, access: sent, model, http, clock }));
}

/** Returns null if the provider, which only resembles its kind, does not have the endpoint. */
export async function ifKnown(access: ProviderAccess, work: () => Promise<Response | null>): Promise<Response | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && (isUnknownEndpoint(error, access) || isUncounted(error, access))) return null;
    throw error;
  }
}

/**
 * A cloud that does not count this model, or whose credentials may call models and not count. Source of the first: `ValidationException` of Bedrock's
 * CountTokens, "The provided model doesn't support counting tokens".
 */
function isUncounted({ detail, extra }: Problem, { cloud }: ProviderAccess): boolean {
  if (cloud === undefined) return false;
  return extra.upstreamStatus === 403 || (extra.upstreamStatus === 400 && /support counting tokens/i.test(detail));
}

/** Throws like `proxyChat`. null: the provider cannot count. */
export async function countTokens(request: Omit<ProxyRequest, 'signal' | 'ids'>): Promise<Response | null> {
  const { access, dialect, http, clock } = request;
  const adapter = adapters[access.kind];
  if (adapter.countTokensPath === undefined || adapter.dialect !== dialect.name) return null;
  const headers = { ...adapter.headers, ...request.headers };
  const exchange = { access, model: request.model, path: adapter.countTokensPath(request.model), headers, body: outgoingBody(request) };
  const response = await withRetries({ clock }, () => openHead({ http, clock }, exchange));
  const { bytes, truncated } = await readBounded(response, limits.maxErrorBodyBytes);
  if (truncated) throw malformedProblem(access, 'sent a token count that is too long');
  const type = response.headers.get('content-type') ?? 'application/json';
  const text = withoutKey(access, new TextDecoder().decode(bytes));
  return new Response(text, { status: 200, headers: { 'content-type': withoutKey(access, type) } });
}
