/**
 * The rest of OpenAI's API (embeddings, moderations, audio, images): requests and replies are passed on with the provider's key and model; and
 * embeddings of Gemini's API.
 */
import { splitModelRef } from '../../core/turn/agent.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { createDropped } from '../../core/model/dropped.ts';
import { otherModels } from '../../core/model/request-extras.ts';
import { choicesOf, formBound, inputBound, type TokenBound } from '../../core/model/token-bound.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest } from '../../core/problem.ts';
import type { ResolvedModel } from '../../core/model/route.ts';
import { firstReply } from '../../engine/first-reply.ts';
import type { RouteAttempt } from '../../engine/try-routes.ts';
import type { ModelRule } from '../../core/model/model-name.ts';
import { timeoutsOf } from '../../core/model/timeouts.ts';
import { readAllowedProvider, readRouteRules } from '../../engine/plan/plan-models.ts';
import { startBodyLog } from '../../engine/proxy/body-log.ts';
import { startMeter } from '../../engine/proxy/call-meter.ts';
import { modelsOf } from '../../core/model/route.ts';
import { limitRequest } from '../../engine/proxy/reserve-request.ts';
import { forwardBody } from './forwarded-reply.ts';
import { accessFor, needsOf } from '../api-choice.ts';
import { openCache, type ProxyDeps } from '../proxy.ts';
import { answerHeaders } from './forward-chat.ts';
import { ifKnown } from './count-tokens.ts';
import { profileFor } from '../profiles.ts';
import { adapters } from '../registry.ts';
import { ownEmbeddings } from './own-embeddings.ts';
import { startReply } from './reply-start.ts';
import { resourceName } from '../gemini/reply.ts';
import { withRetries } from '../retry.ts';
import { endingRoute, toRouting, withTarget } from '../routed-reply.ts';
import { wireAccess } from '../wire-access.ts';
import { openHead } from '../transport.ts';

/**
 * `path`: after the provider's base URL, such as `/embeddings`. `gemini`: what a provider of that kind is sent in its place, to a method of the
 * model's resource.
 */
export type PassedRequest = {
  ref: ResolvedModel;
  path: string;
  body: Readonly<Record<string, unknown>> | FormData;
  requestId?: string | undefined;
  gemini?: { method: string; body(resource: string): Readonly<Record<string, unknown>> };
  /** The header that asks for the cache. */
  cache?: string | undefined;
};

/** The kinds whose service may have the rest of OpenAI's API. */
export const openAiKinds: ReadonlySet<ProviderAccess['kind']> = new Set(['openai', 'openai-responses', 'openai-compatible']);

/** Throws `Problem` for everything but success, as for chats. */
export async function passRequest(deps: ProxyDeps, principal: Principal, request: PassedRequest): Promise<Response> {
  const rules = await readRouteRules(deps.directory, principal, [request.ref]);
  return await firstReply([request.ref], toRouting(deps, principal), (ref, route) =>
    withTarget(route, passToModel(deps, principal, { ...request, ref }, { rules, route })),
  );
}

async function passToModel(
  deps: ProxyDeps,
  principal: Principal,
  { ref, body, requestId, cache: wanted, ...asked }: PassedRequest & { ref: string },
  { rules, route }: { rules: readonly ModelRule[]; route: RouteAttempt | undefined },
): Promise<Response> {
  const { directory, outbound: http, clock, log, background = () => undefined } = deps;
  const { provider, model } = splitModelRef(ref);
  const { access: given, isListed } = await readAllowedProvider(directory, principal, ref, rules);
  const access = wireAccess(given, model);
  // Embeddings of Vertex AI have another form.
  const gemini = given.kind === 'gemini' ? asked.gemini : undefined;
  const path = gemini === undefined ? asked.path : `/${resourceName(model)}:${gemini.method}`;
  const dropped = createDropped();
  const own = path === '/embeddings' && !(body instanceof FormData) ? ownEmbeddings(access, model, body, dropped) : null;
  if (own === null && gemini === undefined && !openAiKinds.has(access.kind) && !(path === '/rerank' && access.kind === 'cohere')) {
    const message = `the provider "${provider}" has no ${path}: it is of kind ${given.kind}. Use a model of a provider of kind openai or openai-compatible`;
    throw invalidRequest([{ path: 'model', message }]);
  }
  const exchange = {
    access,
    model,
    path,
    headers: { accept: '*/*' },
    body: gemini?.body(resourceName(model)) ?? withModel(body, model),
    timeouts: route?.limits,
  };
  const readText = (): string | null => (body instanceof FormData ? null : JSON.stringify(body));
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, { access: given, model });
  const others = (isListed || hasBudget) && !(body instanceof FormData) ? otherModels(body) : [];
  if (others.length > 0) throw invalidRequest(others);
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  // What Gemini's API is sent in place of the body has more members.
  const keyed = [path, ref, isListed, hasBudget, gemini === undefined ? null : exchange.body];
  // Embeddings are the only ones of these that are asked for again and again, and the same for the same text.
  const cache =
    asked.path === '/embeddings' && !(body instanceof FormData)
      ? await openCache(deps, principal, access, { asked: wanted, body, dialect: null, keyed, hit: () => route?.unused() })
      : null;
  const ending = endingRoute(bodies.usage, route);
  const meter = startMeter(
    { ...deps, usage: cache === null ? ending : cache.usage(ending) },
    { principal, ref, requestId, dialect: null },
    given,
  );
  const send = async (): Promise<Response> => {
    await reserve?.(passedBound(path, body, profileFor(access, model).imageTokens));
    const open = (call: object = {}) => openHead({ http, clock, log }, { ...exchange, ...call }, { isWhole: true });
    const retried = <T>(work: () => Promise<T>) => withRetries({ clock, timeouts: route?.limits }, work);
    const opened = own === null ? retried(() => open()) : own(open, retried);
    // What it uses is counted although its client disconnects.
    if (reserve !== undefined) background(opened.catch(() => undefined));
    const response = await opened;
    const headers = await answerHeaders(access, response, dropped);
    const forwarding = { access, meter, readUsage: readPassedUsage, clock };
    const started = await startReply(response, {
      access,
      reply: null,
      firstByteMs: timeoutsOf(access.timeouts, route?.limits).wholeMs,
      clock,
    });
    const passed = await forwardBody(response, started, forwarding);
    return new Response(passed, { status: 200, headers });
  };
  try {
    return await bodies.watch(cache === null ? await send() : await cache.answer(meter, undefined, send));
  } catch (error) {
    bodies.fail();
    meter.fail(error);
    throw error;
  }
}

/** Has the provider compact a conversation (`/responses/compact`); null: its API cannot. */
export async function compactByProvider(
  deps: ProxyDeps,
  principal: Principal,
  request: Omit<PassedRequest, 'path'> & { body: Readonly<Record<string, unknown>> },
): Promise<Response | null> {
  // The item that it makes is for the provider's own models.
  const [ref = ''] = modelsOf(request.ref);
  const { access } = await readAllowedProvider(deps.directory, principal, ref);
  const needs = needsOf(request.body, 'openai-responses');
  const sent = accessFor(access, splitModelRef(ref).model, needs, deps.clock.now());
  if (sent.kind !== 'openai-responses') return null;
  return await ifKnown(sent, () => passRequest(deps, principal, { ...request, ref, path: '/responses/compact' }));
}

/** Of an image, a recording or a transcript. Embeddings and moderations have no output. */
const passedOutputTokens = 16_384;

function passedBound(path: string, body: PassedRequest['body'], imageTokens: number): TokenBound {
  const isForm = body instanceof FormData;
  const outputTokens = /^\/(embeddings|moderations|rerank)$|:batchEmbedContents$/.test(path) ? 0 : passedOutputTokens;
  const choices = (isForm ? body.getAll('n') : [body.n]).map((n) => choicesOf({ n }));
  const inputTokens = isForm ? formBound(body.values(), imageTokens) : inputBound(body, imageTokens);
  return { inputTokens, outputTokens: outputTokens * Math.max(1, ...choices) };
}

/** Embeddings count as chats do, audio and images as responses. */
function readPassedUsage(usage: unknown): Usage | null {
  const apis = [adapters.openai, adapters['openai-responses'], adapters.gemini];
  return apis.map((adapter) => adapter.readUsage?.(usage) ?? null).find((read) => read !== null) ?? null;
}

function withModel(body: PassedRequest['body'], model: string): PassedRequest['body'] {
  if (!(body instanceof FormData)) return { ...body, model };
  body.set('model', model);
  return body;
}
