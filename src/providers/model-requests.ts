/**
 * Requests to providers outside of turns: chats that are proxied, token counts, lists of models, and the rest of OpenAI's API (embeddings,
 * moderations, audio, images), whose requests and replies are passed on with the provider's key and model.
 */
import { splitModelRef } from '../core/agent.ts';
import { limits } from '../core/limits.ts';
import type { Usage } from '../core/model/chat-event.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { isRevocable, type Principal } from '../core/principal.ts';
import { invalidRequest } from '../core/problem.ts';
import { startBodyLog } from '../engine/proxy/body-log.ts';
import { startMeter } from '../engine/proxy/call-meter.ts';
import { reserveRequest } from '../engine/proxy/reserve-request.ts';
import type { Logger } from '../ports/runtime.ts';
import type { createModelLists } from './model-list.ts';
import { forwardBody } from './forwarded-reply.ts';
import { answerHeaders, countRequestTokens, type ProxiedChat, type ProxyDeps, proxyModelRequest } from './proxy.ts';
import { adapters } from './registry.ts';
import { withRetries } from './retry.ts';
import { openHead } from './transport.ts';

/** `path`: after the provider's base URL, such as `/embeddings`. */
export type PassedRequest = {
  ref: string;
  path: string;
  body: Readonly<Record<string, unknown>> | FormData;
  requestId?: string | undefined;
};

export function createModelRequests(deps: ProxyDeps & { log: Logger }) {
  let lists: ReturnType<typeof createModelLists> | null = null;
  return {
    /**
     * Proxies a chat request. Passes the provider's bytes through where dialect and wire match; canonical frames where the profile requires
     * them or the dialect differs.
     */
    proxyChat: (principal: Principal, request: ProxiedChat) => proxyModelRequest(deps, principal, request),
    /** Returns the provider's own token count as it sent it; null when the provider does not count tokens. */
    countTokens: (principal: Principal, request: Omit<ProxiedChat, 'signal' | 'agent'>) => countRequestTokens(deps, principal, request),
    passRequest: (principal: Principal, request: PassedRequest) => passRequest(deps, principal, request),
    /** Returns the models of all providers: those of the document, or those that the provider itself lists. */
    async models(workspace: string) {
      const { createModelLists: create } = await import('./model-list.ts');
      lists ??= create(deps);
      return await lists.models(workspace);
    },
  };
}

/** The kinds whose service may have the rest of OpenAI's API. */
const openAiKinds: ReadonlySet<ProviderAccess['kind']> = new Set(['openai', 'openai-responses', 'openai-compatible']);

/** Throws `Problem` for everything but success, as for chats. */
async function passRequest(deps: ProxyDeps, principal: Principal, { ref, path, body, requestId }: PassedRequest): Promise<Response> {
  const { directory, outbound: http, clock, background = () => undefined } = deps;
  const { provider, model } = splitModelRef(ref);
  const access = await directory.provider(principal.workspace, provider);
  if (!openAiKinds.has(access.kind)) {
    const message = `the provider "${provider}" has no ${path}: it is of kind ${access.kind}. Use a model of a provider of kind openai or openai-compatible`;
    throw invalidRequest([{ path: 'model', message }]);
  }
  const exchange = { access, path, headers: { accept: '*/*' }, body: withModel(body, model) };
  const isStream = body instanceof FormData ? body.get('stream') === 'true' : body.stream === true;
  const abort = isStream && isRevocable(principal.keyId, principal.user) ? new AbortController() : undefined;
  const options = { callersBody: true, firstByteMs: limits.providerWholeTimeoutMs, ...(abort && { signal: abort.signal }) };
  const readText = (): string | null => (body instanceof FormData ? null : JSON.stringify(body));
  const { usage } = await reserveRequest(deps, principal, { access, model, readCharacters: () => readText()?.length ?? 0 });
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  const meter = startMeter({ ...deps, usage: bodies.usage }, { principal, ref, requestId, dialect: null }, access);
  try {
    const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, options));
    const headers = await answerHeaders(access, response);
    const forwarding = { access, meter, readUsage: readPassedUsage, reportsUsage: true, clock, background, exchange: abort };
    const passed = await forwardBody(response, forwarding);
    return await bodies.watch(new Response(passed, { status: 200, headers }));
  } catch (error) {
    bodies.fail();
    meter.fail(error);
    throw error;
  }
}

/** Embeddings count as chats do, audio and images as responses. */
function readPassedUsage(usage: unknown): Usage | null {
  return adapters.openai.readUsage?.(usage) ?? adapters['openai-responses'].readUsage?.(usage) ?? null;
}

function withModel(body: PassedRequest['body'], model: string): PassedRequest['body'] {
  if (!(body instanceof FormData)) return { ...body, model };
  body.set('model', model);
  return body;
}
