/**
 * Forwards a chat to a provider whose own wire its dialect is: the client's request and the provider's bytes pass unchanged. A reply is parsed
 * and rewritten if the provider's profile requires it, or if it may contain calls and its wire is not known to be exact.
 */
import { timeoutsOf } from '../../core/model/timeouts.ts';
import type { Problem } from '../../core/problem.ts';
import { encodeFrame } from '../../dialects/native.ts';
import { type Dropped, droppedHeaders } from '../../core/model/dropped.ts';
import type { ProviderAccess } from '../../core/model/provider.ts';
import { noMeter, type CallMeter } from '../../engine/proxy/call-meter.ts';
import type { ProxiedChat } from '../../engine/proxy/translate-chat.ts';
import { type KeptReplies, withReferredItems } from '../../engine/proxy/kept-replies.ts';
import type { LimitedRequest } from '../../engine/proxy/reserve-request.ts';
import { isEventStream } from '../../net/sse.ts';
import type { OutboundHttp } from '../../ports/outbound.ts';
import type { Clock, Ids, Logger } from '../../ports/runtime.ts';
import { adaptPassed } from '../supported-settings.ts';
import { isOther, relabelled, responseOf } from './reply-content.ts';
import { startReply } from './reply-start.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { lacksUsage, offersTools, outgoingBody, wantsUsage, withStreamUsage } from './outgoing-body.ts';
import type { ProviderExchange } from '../provider-exchange.ts';
import { profileFor } from '../profiles.ts';
import { adapters } from '../registry.ts';
import { malformedProblem, rateLimitHeaders } from '../provider-error.ts';
import { forwardBody } from './forwarded-reply.ts';
import { withoutKey } from '../provider-secrets.ts';
import { withRetries } from '../retry.ts';
import { leakedCallsOf } from '../text-protocol.ts';
import { openHead, openReply, readUnstreamed } from '../transport.ts';
import { requestBound } from '../request-bound.ts';

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
  const { beginRelay, relayStream, relayWhole } = await import('../relay/relay-reply.ts');
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
      const { beginOther } = await import('../relay/relay-reply.ts');
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
