/**
 * Sends a chat without server tools and session to its provider. If its dialect is the provider's own wire, the client's request and the
 * provider's bytes are forwarded; other chats are translated (`engine/proxy/translate-chat.ts`). A forwarded reply is parsed and rewritten
 * if the provider's profile requires it, or if it may contain calls and its wire is not known to be exact.
 */
import type { Redaction } from '../core/redaction/redaction.ts';
import type { TextRedactor } from '../core/redaction/redact-text.ts';
import { splitModelRef } from '../core/turn/agent.ts';
import { overflowCode, reportedIn } from '../core/model/provider-failure.ts';
import { timeoutsOf } from '../core/model/timeouts.ts';
import { Problem } from '../core/problem.ts';
import { toAnswerId } from '../core/text/reference.ts';
import { encodeFrame } from '../dialects/native.ts';
import { createReplyEncoder } from '../dialects/reply-encoder.ts';
import { firstReply } from '../engine/first-reply.ts';
import type { RouteAttempt } from '../engine/try-routes.ts';
import { createDropped, type Dropped, droppedHeaders } from '../core/model/dropped.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { apiHeader } from '../core/model/provider-profile.ts';
import type { Principal } from '../core/people/principal.ts';
import { startBodyLog } from '../engine/proxy/body-log.ts';
import { noMeter, startMeter, type CallMeter } from '../engine/proxy/call-meter.ts';
import type { CacheableRequest, CachedReplies, OpenCache } from '../engine/proxy/reply-cache.ts';
import { type AskedChat, type ProxiedChat, translateChat } from '../engine/proxy/translate-chat.ts';
import { type KeptReplies, withReferredItems } from '../engine/proxy/kept-replies.ts';
import { readAllowedProvider, requireRouteModels } from '../engine/plan/plan-models.ts';
import { limitRequest, type LimitedRequest } from '../engine/proxy/reserve-request.ts';
import type { Limiter } from '../ports/limiter.ts';
import { isEventStream } from '../net/sse.ts';
import type { Directory } from '../ports/directory.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Ids, Logger } from '../ports/runtime.ts';
import type { UsageRecorder } from '../ports/usage.ts';
import { adaptPassed } from './supported-settings.ts';
import { isOther, relabelled, responseOf } from './passed/reply-content.ts';
import { startReply } from './passed/reply-start.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { lacksUsage, offersTools, outgoingBody, wantsUsage, withStreamUsage } from './passed/outgoing-body.ts';
import type { IdSeal } from './passed/provider-ids.ts';
import { accessFor, needsOf, otherAccess } from './api-choice.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import { profileFor } from './profiles.ts';
import { adapters } from './registry.ts';
import { malformedProblem, rateLimitHeaders } from './provider-error.ts';
import { forwardBody } from './passed/forwarded-reply.ts';
import { withoutKey } from './provider-secrets.ts';
import { rehearsalHttp } from './rehearsal/rehearsal.ts';
import { withRetries } from './retry.ts';
import { endingRoute, toRouting, withTarget } from './routed-reply.ts';
import { leakedCallsOf } from './text-protocol.ts';
import { openHead, openReply, readUnstreamed } from './transport.ts';
import type { WithTelemetry } from '../ports/telemetry.ts';
import { requestBound } from './request-bound.ts';
import { wireAccess } from './wire-access.ts';

export type ProxyDeps = WithTelemetry & {
  /** Absent: failures of the models of routes are not logged. */
  log?: Logger;
  directory: Directory;
  outbound: OutboundHttp;
  model: ChatModel;
  clock: Clock;
  ids: Ids;
  /** What translated replies need again, for a key. */
  kept?(principal: Principal): KeptReplies;
  /** Signs ids of files. Absent: files are not passed. */
  fileIds?: IdSeal;
  /** Absent: no replies are cached. */
  cached?(): Promise<CachedReplies>;
  /** Absent: nothing is metered. */
  usage?: Pick<UsageRecorder, 'gather'>;
  /** Absent: there are no limits. */
  limiter?: Limiter;
  background?(work: Promise<unknown>): void;
  /** Compiles redaction rules. Absent: bodies that need them are not logged. */
  redactor?(redaction: Redaction): Promise<TextRedactor>;
};

/** Throws the problem of the model, or that of its fallbacks. */
export async function proxyModelRequest(deps: ProxyDeps, principal: Principal, chat: AskedChat): Promise<Response> {
  const { ref: first, fallbacks = [], ...asked } = chat;
  const models = [first, ...fallbacks];
  await requireRouteModels(deps.directory, principal, models);
  try {
    return await firstReply(models, { ...toRouting(deps, principal), body: chat.body }, (ref, route) =>
      withTarget(
        route,
        proxyToModel(deps, principal, { ...asked, ref, ...(route && { timeouts: { ...route.limits, ...chat.timeouts } }) }, route),
      ),
    );
  } catch (error) {
    const failed = error instanceof Problem && chat.body.stream === true ? failedStream(deps, chat, error) : null;
    if (failed === null) throw error;
    return failed;
  }
}

/**
 * A stream of Responses reports in its events that the conversation does not fit the model, as OpenAI's API does: clients such as Codex shorten it
 * then, and look for it nowhere else.
 */
function failedStream({ ids }: ProxyDeps, { dialect, body }: AskedChat, problem: Problem): Response | null {
  if (dialect.name !== 'openai-responses' || reportedIn(problem.extra)?.code !== overflowCode) return null;
  const encoder = createReplyEncoder(dialect, { id: toAnswerId(dialect.name, ids.next('cmpl')), model: body.model, created: 0 });
  const text = encoder.encode({ type: 'error', problem: problem.toBody(), retryable: false });
  return new Response(text, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store, no-transform' } });
}

async function proxyToModel(deps: ProxyDeps, principal: Principal, asGiven: ProxiedChat, route?: RouteAttempt): Promise<Response> {
  const { ref, dialect, requestId, agentName } = asGiven;
  const { access: given, isListed } = await readAllowedProvider(deps.directory, principal, ref);
  const access = wireAccess(given, splitModelRef(ref).model);
  const chat = await withFileIds(deps, principal, asGiven, given);
  const readText = (): string => chat.text ?? JSON.stringify(chat.body);
  // Prices have the names of the document.
  const asked = { access: given, model: splitModelRef(ref).model, limited: chat.limited };
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, asked);
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  const ending = endingRoute(bodies.usage, route);
  const keyed = [ref, chat.agent, chat.headers, isListed, hasBudget];
  const hit = (): void => route?.unused();
  const cache = await openCache(deps, principal, access, { asked: chat.cache, body: chat.body, dialect: dialect.name, keyed, hit });
  const meter = startMeter(
    { ...deps, usage: cache === null ? ending : cache.usage(ending) },
    { principal, ref, agent: agentName, requestId, dialect: dialect.name },
    given,
  );
  try {
    const send = (own: ProxyDeps) => sendChat(own, principal, chat, { access, isListed, reserve, hasBudget }, meter);
    const kept = cache === null ? undefined : deps.kept?.(principal);
    const sent = cache === null ? send(deps) : cache.answer(meter, kept, (given) => send(given ? { ...deps, kept: () => given } : deps));
    // What it uses is counted although its client disconnects.
    if (reserve !== undefined) deps.background?.(sent.catch(() => undefined));
    return await bodies.watch(await sent);
  } catch (error) {
    bodies.fail();
    meter.fail(error);
    throw error;
  }
}

/** Files have ids for their key (`passed/provider-ids.ts`), which is loaded only for a chat that names one. */
async function withFileIds(
  { fileIds }: ProxyDeps,
  principal: Principal,
  chat: ProxiedChat,
  { name }: ProviderAccess,
): Promise<ProxiedChat> {
  if (fileIds === undefined || chat.text?.includes('"file-eyJ') !== true) return chat;
  const { withProviderIds } = await import('./passed/provider-ids.ts');
  return await withProviderIds(fileIds, principal, chat, name);
}

/** Loaded only if something asks for the cache. */
export async function openCache(
  deps: ProxyDeps,
  principal: Principal,
  { kind, baseUrl, headers, profile, cloud }: ProviderAccess,
  request: CacheableRequest,
): Promise<OpenCache | null> {
  const { cached, usage, directory } = deps;
  if (cached === undefined || usage === undefined) return null;
  const isAsked = request.asked !== undefined || principal.cache !== undefined;
  if (!isAsked && !(await directory.modelAliases(principal.workspace)).some(({ cache }) => cache !== undefined)) return null;
  const { openReplyCache } = await import('../engine/proxy/reply-cache.ts');
  const keyed = [kind, baseUrl, headers, profile, cloud?.apiVersion ?? null, ...request.keyed];
  return await openReplyCache({ ...deps, cached: await cached() }, principal, { ...request, keyed });
}

/** Names the API in the response if it is not that of the provider's kind. */
async function sendChat(deps: ProxyDeps, principal: Principal, chat: ProxiedChat, rules: SendRules, meter: CallMeter): Promise<Response> {
  const { ref, dialect, body, agent, signal } = chat;
  const { access } = rules;
  const { model } = splitModelRef(ref);
  const needs = needsOf(body, dialect.name);
  const sent = accessFor(access, model, needs, deps.clock.now());
  const isForwarded = !agent?.isOwn && canForward(sent, model, dialect, agent?.protocol);
  if (isForwarded) {
    try {
      return withApiHeader(await forwardChat(deps, principal, chat, { ...rules, access: sent }, meter), sent === access ? null : sent.kind);
    } catch (error) {
      // Otherwise the translated request goes by the other API.
      if (otherAccess({ access, model, needs, sent, error, now: deps.clock.now() }) === null) throw error;
    }
  }
  let kind: ProviderAccess['kind'] | null = null;
  const translated = {
    ...{ access, model, dialect, body, ref: body.model, meter, timeouts: chat.timeouts },
    ...(agent !== undefined && { agent }),
    ...(deps.kept !== undefined && { kept: deps.kept(principal) }),
    // A request that was refused is reserved already.
    ...(!isForwarded && { reserve: rules.reserve }),
    sentBy: (used: ProviderAccess['kind']) => {
      kind = used;
    },
  };
  return withApiHeader(await translateChat(deps, translated, signal), kind);
}

function withApiHeader(response: Response, kind: ProviderAccess['kind'] | null): Response {
  if (kind !== null) response.headers.set(apiHeader, kind);
  return response;
}

async function forwardChat(
  { outbound, kept, telemetry, clock, ids, log }: ProxyDeps,
  principal: Principal,
  { ref, dialect, body, agent, text, headers, signal, timeouts }: ProxiedChat,
  { access, isListed, reserve, hasBudget }: SendRules,
  meter: CallMeter,
): Promise<Response> {
  const { model } = splitModelRef(ref);
  const http = access.kind === 'rehearsal' ? rehearsalHttp : outbound;
  // With other instructions, the body no longer equals the received text.
  const sent = agent === undefined ? { body, text } : { body: dialect.withInstructions(body, agent.instructions), agentRef: body.model };
  const storing = dialect.name === 'openai-responses' && kept !== undefined && { kept: kept(principal) };
  // An agent decides on its model, too.
  const isChecked = isListed || hasBudget || agent !== undefined;
  // Written anew, a limited body has no member twice, of which the provider might read another one.
  const isLimited = isChecked || reserve !== undefined;
  const { checkedBody } = isLimited ? await import('../core/model/request-extras.ts') : {};
  const dropped = createDropped();
  meter.dropped(dropped);
  const checked = checkedBody && { body: checkedBody(sent.body, { isChecked, hasBudget, dropped }), text: undefined };
  const own = { ...sent, ...checked, ...storing, reserve, dropped };
  const request = { access, model, dialect, headers, http, clock, ids, log, signal, meter, timeouts, ...own };
  if (telemetry == null) return await proxyChat(request);
  const { observeForward } = await import('./observe-forward.ts');
  return await observeForward(telemetry, request, proxyChat);
}

/** `isListed`: the model must be on an allow-list. */
type SendRules = { access: ProviderAccess; isListed: boolean } & Pick<LimitedRequest, 'reserve' | 'hasBudget'>;

export type ProxyRequest = Pick<ProxiedChat, 'dialect' | 'text' | 'headers' | 'timeouts'> & {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  /** The client's request, parsed. Not modified. */
  body: Readonly<Record<string, unknown>>;
  /** The agent's ref, shown as the model in the reply, which hides the actual model. */
  agentRef?: string | undefined;
  /** Of a Responses request: the items of a rewritten reply, which have ids that the provider does not know. */
  kept?: KeptReplies;
  http: OutboundHttp;
  clock: Clock;
  ids: Ids;
  log?: Logger | undefined;
  /** Aborts when the client disconnects. Requested only if needed, because creating a signal is expensive. */
  signal?(): AbortSignal;
  meter?: CallMeter;
  /** Reserves what the request can use. With it, the reply must report its usage, also if the client has not asked for it. */
  reserve?: LimitedRequest['reserve'];
  /** What is left out of the body. */
  dropped?: Dropped;
};

/** Returns whether a request in this dialect can be forwarded to the provider; with tools, only if the model supports tools natively. */
export function canForward(access: ProviderAccess, model: string, dialect: Dialect, protocol: 'native' | 'text' | undefined): boolean {
  return adapters[access.kind].dialect === dialect.name && (protocol ?? profileFor(access, model).protocol) === 'native';
}

/** Throws `Problem` for everything but success: what the provider rejects about the body is the client's fault, other failures are not. */
export async function proxyChat(asGiven: ProxyRequest): Promise<Response> {
  const { access, model, dialect, http, clock, ids, log, meter = noMeter } = asGiven;
  const adapter = adapters[access.kind];
  const profile = profileFor(access, model);
  const adapted = adaptPassed(asGiven.body, dialect.name, profile, asGiven.dropped);
  const given = adapted === asGiven.body ? asGiven : { ...asGiven, body: adapted, text: undefined };
  const { normalize, exact, streamUsage } = profile;
  const isRewritten = given.agentRef !== undefined || normalize || (given.reserve !== undefined && streamUsage && lacksUsage(given));
  const request = isRewritten || !exact ? await withKeptItems(given) : given;
  const { body } = request;
  const headersOut = { ...adapter.headers, ...request.headers };
  // A response in the background is no reply yet.
  const isForwarded = body.background === true || (!isRewritten && (exact || !offersTools(body)));
  const asked = isForwarded || !streamUsage ? request : withStreamUsage(request);
  if (given.reserve !== undefined) await given.reserve(requestBound(given, asked.body));
  const sent = outgoingBody(asked);
  const exchange: ProviderExchange = {
    access,
    model,
    path: adapter.path(body.stream === true ? { model } : { model, whole: true }),
    headers: headersOut,
    body: sent,
    timeouts: given.timeouts,
  };
  if (isForwarded) return await forward(given, body, exchange);
  // Not part of the eager start.
  const { beginRelay, relayStream, relayWhole } = await import('./relay/relay-reply.ts');
  const { agentRef } = request;
  const kept = body.store === false ? undefined : request.kept;
  const leaks = await leakedCallsOf(body);
  const rewriting = { access, dialect, model, agentRef, kept, leaks, includeUsage: wantsUsage(body), clock, ids, meter };
  if (body.stream !== true) {
    const { whole, headers } = await withRetries({ clock, timeouts: given.timeouts }, async () => {
      const response = await relabelled(await openHead({ http, clock, log }, exchange, { isWhole: true }));
      return { headers: await answerHeaders(access, response, given.dropped), whole: await readUnstreamed(response, access) };
    });
    return await relayWhole(whole, { ...rewriting, headers });
  }
  const signal = request.signal?.();
  const { begun, headers } = await withRetries({ clock, signal, timeouts: given.timeouts }, async () => {
    const open = await openReply({ http, clock, log }, exchange, signal);
    try {
      const response = await open.idle.guard(relabelled(open.response));
      const passed = await answerHeaders(access, response, given.dropped);
      return { headers: passed, begun: await beginRelay({ ...open, response }, rewriting, signal) };
    } catch (error) {
      open.idle.stop();
      throw error;
    }
  });
  return relayStream(begun, { ...rewriting, headers });
}

/** Forwards the bytes of the reply undecoded. The response ends with the provider or the client. */
async function forward(given: ProxyRequest, body: ProxyRequest['body'], exchange: ProviderExchange): Promise<Response> {
  const { access, model, dialect, http, clock, ids, log, meter = noMeter } = given;
  const { createReply, readUsage } = adapters[access.kind];
  const isStream = body.stream === true;
  const { firstByteMs } = timeoutsOf(access.timeouts, given.timeouts);
  const sent = await withRetries({ clock, timeouts: given.timeouts }, async () => {
    const opened = await relabelled(await openHead({ http, clock, log }, exchange, { isWhole: !isStream }));
    const passed = await answerHeaders(access, opened, given.dropped);
    const inOtherForm = async (response: Response) => {
      const { beginOther } = await import('./relay/relay-reply.ts');
      const unsent = { access, dialect, model, agentRef: undefined, kept: undefined, leaks: null, clock, ids, meter };
      return { headers: passed, other: await beginOther(response, isStream, { ...unsent, includeUsage: wantsUsage(body) }) };
    };
    if (isEventStream(opened) !== isStream) return await inOtherForm(opened);
    // A response in the background is empty at first.
    const reply = body.background === true ? null : createReply(access);
    const started = await startReply(opened, { access, reply, firstByteMs, clock });
    return isOther(started, isStream) ? await inOtherForm(responseOf(started, clock)) : { response: opened, headers: passed, started };
  });
  if ('other' in sent) return await sent.other(sent.headers);
  const { response, headers, started } = sent;
  const maxMs = given.timeouts?.betweenBytesMs ?? access.timeouts?.betweenBytesMs;
  const failureText = (problem: Problem): string => dialect.failureFrames(problem.toBody(), 0).map(encodeFrame).join('');
  const pause = maxMs === undefined || !isStream ? undefined : { maxMs, failureText };
  const forwarding = { access, meter, readUsage, heartbeat: dialect.heartbeat, clock, pause };
  return new Response(await forwardBody(response, started, forwarding), { status: 200, headers });
}

/** Items that are not stored here may be the provider's own. */
async function withKeptItems(request: ProxyRequest): Promise<ProxyRequest> {
  const { kept, body } = request;
  if (kept === undefined) return request;
  const whole = await withReferredItems(kept, body, { unknown: 'leave' });
  return whole === body ? request : { ...request, body: whole, text: undefined };
}

/**
 * Returns the provider's headers that are useful to the client; drops cookies, keys and hop-by-hop headers. Throws if the response is a
 * page or empty. Reads headers by name, because iterating over all costs several times as much; the names of those returned are lower case.
 */
export async function answerHeaders(access: ProviderAccess, response: Response, dropped?: Dropped): Promise<Record<string, string>> {
  const type = response.headers.get('content-type') ?? '';
  // The body is not read if its length is declared: in workerd that makes a stream.
  const length = response.headers.get('content-length');
  const empty = length === null ? response.body === null : length === '0';
  if (empty || /^text\/html/i.test(type)) {
    await response.body?.cancel();
    throw malformedProblem(access, empty ? 'sent an empty reply' : `sent ${type.split(';')[0]} instead of a reply`);
  }
  const headers: Record<string, string> = { 'content-type': withoutKey(access, type), ...droppedHeaders(dropped?.items() ?? []) };
  if (limitHeaders.some((name) => response.headers.has(name))) {
    Object.assign(headers, rateLimitHeaders(access, response.headers));
  }
  return headers;
}

/** Each stands for all of a provider's `x-ratelimit-…` or `anthropic-ratelimit-…` headers. */
const limitHeaders = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining',
  'anthropic-ratelimit-requests-limit',
];
