/**
 * The rest of OpenAI's API (embeddings, moderations, audio, images): requests and replies are passed on with the provider's key and model.
 */
import { splitModelRef } from '../../core/turn/agent.ts';
import type { Usage } from '../../core/model/chat-event.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { otherModels } from '../../core/model/request-extras.ts';
import { choicesOf, formBound, inputBound, type TokenBound } from '../../core/model/token-bound.ts';
import type { Principal } from '../../core/people/principal.ts';
import { invalidRequest } from '../../core/problem.ts';
import { readAllowedProvider } from '../../engine/plan/plan-models.ts';
import { startBodyLog } from '../../engine/proxy/body-log.ts';
import { startMeter } from '../../engine/proxy/call-meter.ts';
import { limitRequest } from '../../engine/proxy/reserve-request.ts';
import { forwardBody } from './forwarded-reply.ts';
import { accessFor, needsOf } from '../api-choice.ts';
import { answerHeaders, ifKnown, openCache, type ProxyDeps } from '../proxy.ts';
import { profileFor } from '../profiles.ts';
import { adapters } from '../registry.ts';
import { startReply } from './reply-start.ts';
import { withRetries } from '../retry.ts';
import { openHead } from '../transport.ts';

/** `path`: after the provider's base URL, such as `/embeddings`. */
export type PassedRequest = {
  ref: string;
  path: string;
  body: Readonly<Record<string, unknown>> | FormData;
  requestId?: string | undefined;
  /** The header that asks for the cache. */
  cache?: string | undefined;
};

/** The kinds whose service may have the rest of OpenAI's API. */
export const openAiKinds: ReadonlySet<ProviderAccess['kind']> = new Set(['openai', 'openai-responses', 'openai-compatible']);

/** Throws `Problem` for everything but success, as for chats. */
export async function passRequest(
  deps: ProxyDeps,
  principal: Principal,
  { ref, path, body, requestId, cache: asked }: PassedRequest,
): Promise<Response> {
  const { directory, outbound: http, clock, background = () => undefined } = deps;
  const { provider, model } = splitModelRef(ref);
  const { access, isListed } = await readAllowedProvider(directory, principal, ref);
  if (!openAiKinds.has(access.kind)) {
    const message = `the provider "${provider}" has no ${path}: it is of kind ${access.kind}. Use a model of a provider of kind openai or openai-compatible`;
    throw invalidRequest([{ path: 'model', message }]);
  }
  const exchange = { access, path, headers: { accept: '*/*' }, body: withModel(body, model) };
  const readText = (): string | null => (body instanceof FormData ? null : JSON.stringify(body));
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, { access, model });
  const others = (isListed || hasBudget) && !(body instanceof FormData) ? otherModels(body) : [];
  if (others.length > 0) throw invalidRequest(others);
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  const keyed = [path, ref, isListed, hasBudget];
  // Embeddings are the only ones of these that are asked for again and again, and the same for the same text.
  const cache =
    path === '/embeddings' && !(body instanceof FormData)
      ? await openCache(deps, principal, access, { asked, body, dialect: null, keyed })
      : null;
  const meter = startMeter(
    { ...deps, usage: cache === null ? bodies.usage : cache.usage(bodies.usage) },
    { principal, ref, requestId, dialect: null },
    access,
  );
  const send = async (): Promise<Response> => {
    await reserve?.(passedBound(path, exchange.body, profileFor(access, model).imageTokens));
    const opened = withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { isWhole: true }));
    // What it uses is counted although its client disconnects.
    if (reserve !== undefined) background(opened.catch(() => undefined));
    const response = await opened;
    const headers = await answerHeaders(access, response);
    const forwarding = { access, meter, readUsage: readPassedUsage, clock };
    const started = await startReply(response, { access, reply: null, firstByteMs: 0, clock });
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
  const { access } = await readAllowedProvider(deps.directory, principal, request.ref);
  const needs = needsOf(request.body, 'openai-responses');
  const sent = accessFor(access, splitModelRef(request.ref).model, needs, deps.clock.now());
  if (sent.kind !== 'openai-responses') return null;
  return await ifKnown(sent, () => passRequest(deps, principal, { ...request, path: '/responses/compact' }));
}

/** Of an image, a recording or a transcript. Embeddings and moderations have no output. */
const passedOutputTokens = 16_384;

function passedBound(path: string, body: PassedRequest['body'], imageTokens: number): TokenBound {
  const isForm = body instanceof FormData;
  const outputTokens = /^\/(embeddings|moderations)$/.test(path) ? 0 : passedOutputTokens;
  const choices = (isForm ? body.getAll('n') : [body.n]).map((n) => choicesOf({ n }));
  const inputTokens = isForm ? formBound(body.values(), imageTokens) : inputBound(body, imageTokens);
  return { inputTokens, outputTokens: outputTokens * Math.max(1, ...choices) };
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
