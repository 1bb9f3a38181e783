/**
 * Sends a chat without server tools and session to its provider. If its dialect is the provider's own wire, the client's request and the
 * provider's bytes are forwarded; other chats are translated (`engine/proxy/translate-chat.ts`). A forwarded reply is parsed and rewritten
 * if the provider's profile requires it, or if it may contain calls and its wire is not known to be exact.
 */
import type { Redaction } from '../core/redaction/redaction.ts';
import type { TextRedactor } from '../core/redaction/redact-text.ts';
import { splitModelRef } from '../core/agent.ts';
import { nativeTokenPrefix } from '../core/model/native-token.ts';
import { recordOf } from '../core/json/wire-value.ts';
import { limits } from '../core/limits.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { isRevocable, type Principal } from '../core/principal.ts';
import { startBodyLog } from '../engine/proxy/body-log.ts';
import { noMeter, startMeter, type CallMeter } from '../engine/proxy/call-meter.ts';
import { translateChat, type AgentOverrides } from '../engine/proxy/translate-chat.ts';
import { type KeptReplies, withReferredItems } from '../engine/proxy/kept-replies.ts';
import { readAllowedProvider } from '../engine/plan/plan-models.ts';
import { limitRequest, type LimitedRequest } from '../engine/proxy/reserve-request.ts';
import type { Plan } from '../core/turn/plan.ts';
import type { Limiter } from '../ports/limiter.ts';
import { readBounded } from '../net/read-bounded.ts';
import type { Directory } from '../ports/catalog.ts';
import type { ChatModel } from '../ports/chat-model.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Ids } from '../ports/runtime.ts';
import type { UsageRecorder } from '../ports/usage.ts';
import { rewriteStream, rewriteUnstreamed } from './rewrite-reply.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { profileFor } from './profiles.ts';
import { adapters } from './registry.ts';
import { malformedProblem } from './provider-error.ts';
import { forwardBody } from './forwarded-reply.ts';
import { withoutKey } from './provider-secrets.ts';
import { rehearsalHttp } from './rehearsal/rehearsal.ts';
import { withRetries } from './retry.ts';
import { type ProviderExchange, openHead, openReply } from './transport.ts';
import type { WithTelemetry } from '../ports/telemetry.ts';
import { observeForward } from './observe-forward.ts';

/**
 * A chat without server tools and session, to be forwarded or translated. `agent`: an agent
 * without tools, which overrides the body; `isOwn`: it sets more than instructions.
 */
export type ProxiedChat = Pick<ProxyRequest, 'dialect' | 'text' | 'headers'> & {
  ref: string;
  body: Readonly<Record<string, unknown>> & { model: string };
  /** Aborts when the client disconnects. */
  signal(): AbortSignal;
  agent?: AgentOverrides & { isOwn: boolean };
  /** Of the response, and the name of the agent: for the request log. */
  requestId?: string | undefined;
  agentName?: string | undefined;
  /** Whose limits it counts for. Absent: those of the key and the workspace. */
  limited?: Plan['limited'];
};

export type ProxyDeps = WithTelemetry & {
  directory: Directory;
  outbound: OutboundHttp;
  model: ChatModel;
  clock: Clock;
  ids: Ids;
  /** What translated replies need again, for a key. */
  kept?(principal: Principal): KeptReplies;
  /** Absent: nothing is metered. */
  usage?: Pick<UsageRecorder, 'gather'>;
  /** Absent: there are no limits. */
  limiter?: Limiter;
  background?(work: Promise<unknown>): void;
  /** Compiles redaction rules. Absent: bodies that need them are not logged. */
  redactor?(redaction: Redaction): Promise<TextRedactor>;
};

export async function proxyModelRequest(deps: ProxyDeps, principal: Principal, chat: ProxiedChat): Promise<Response> {
  const { ref, dialect, requestId, agentName } = chat;
  const { access, isListed } = await readAllowedProvider(deps.directory, principal, ref);
  const readText = (): string => chat.text ?? JSON.stringify(chat.body);
  const asked = { access, model: splitModelRef(ref).model, limited: chat.limited };
  const { usage, reserve, hasBudget } = await limitRequest(deps, principal, asked);
  const bodies = startBodyLog({ ...deps, usage }, principal.workspace, readText);
  const meter = startMeter(
    { ...deps, usage: bodies.usage },
    { principal, ref, agent: agentName, requestId, dialect: dialect.name },
    access,
  );
  try {
    const sent = sendChat(deps, principal, chat, { access, isListed, reserve, hasBudget }, meter);
    // What it uses is counted although its client disconnects.
    if (reserve !== undefined) deps.background?.(sent.catch(() => undefined));
    return await bodies.watch(await sent);
  } catch (error) {
    bodies.fail();
    meter.fail(error);
    throw error;
  }
}

async function sendChat(
  { outbound, kept, background, telemetry, ...deps }: ProxyDeps,
  principal: Principal,
  { ref, dialect, body, agent, text, headers, signal }: ProxiedChat,
  { access, isListed, reserve, hasBudget }: SendRules,
  meter: CallMeter,
): Promise<Response> {
  const { model } = splitModelRef(ref);
  if (agent?.isOwn || !canForward(access, model, dialect, agent?.protocol)) {
    const more = { ...(agent !== undefined && { agent }), ...(kept !== undefined && { kept: kept(principal) }) };
    return await translateChat(deps, { access, model, dialect, body, ref: body.model, meter, reserve, ...more }, signal);
  }
  const http = access.kind === 'rehearsal' ? rehearsalHttp : outbound;
  // With other instructions, the body no longer equals the received text.
  const sent = agent === undefined ? { body, text } : { body: dialect.withInstructions(body, agent.instructions), agentRef: body.model };
  const { clock, ids } = deps;
  const storing = dialect.name === 'openai-responses' && kept !== undefined && { kept: kept(principal) };
  const isWatched = isRevocable(principal.keyId, principal.user);
  // An agent decides on its model, too.
  const isChecked = isListed || hasBudget || agent !== undefined;
  // Written anew, a limited body has no member twice, of which the provider might read another one.
  const isLimited = isChecked || reserve !== undefined;
  const { checkedBody } = isLimited ? await import('../core/model/request-extras.ts') : {};
  const checked = checkedBody && { body: checkedBody(sent.body, { isChecked, hasBudget }), text: undefined };
  const own = { ...sent, ...checked, ...storing, reserve, isWatched };
  const request = { access, model, dialect, headers, http, clock, ids, signal, meter, background, ...own };
  return telemetry == null ? await proxyChat(request) : await observeForward(telemetry, request, proxyChat);
}

/** `isListed`: the model must be on an allow-list. */
type SendRules = { access: ProviderAccess; isListed: boolean } & Pick<LimitedRequest, 'reserve' | 'hasBudget'>;

/** Returns the provider's count of the request's tokens; null: it cannot count, and the caller estimates. */
export async function countRequestTokens(
  { directory, outbound: http, clock }: Pick<ProxyDeps, 'directory' | 'outbound' | 'clock'>,
  principal: Principal,
  { ref, ...request }: Omit<ProxiedChat, 'signal' | 'agent'>,
): Promise<Response | null> {
  const { access } = await readAllowedProvider(directory, principal, ref);
  return await countTokens({ ...request, access, model: splitModelRef(ref).model, http, clock });
}

export type ProxyRequest = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  dialect: Dialect;
  /** The client's request, parsed. Not modified. */
  body: Readonly<Record<string, unknown>>;
  /** The same as text. If only the model changes, it is replaced in this text. */
  text?: string | undefined;
  /** Headers of the client's request to forward. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The agent's ref, shown as the model in the reply, which hides the actual model. */
  agentRef?: string | undefined;
  /** Of a Responses request: the items of a rewritten reply, which have ids that the provider does not know. */
  kept?: KeptReplies;
  http: OutboundHttp;
  clock: Clock;
  ids: Ids;
  /** Aborts when the client disconnects. Requested only if needed, because creating a signal is expensive. */
  signal?(): AbortSignal;
  meter?: CallMeter;
  /** Reserves what the request can use. With it, the reply must report its usage, also if the client has not asked for it. */
  reserve?: LimitedRequest['reserve'];
  /** The key is checked again while a stream is open, which may end it. */
  isWatched?: boolean;
  /** Keeps the request alive until the reply is metered. */
  background?: ((work: Promise<unknown>) => void) | undefined;
};

/** Returns whether a request in this dialect can be forwarded to the provider; with tools, only if the model supports tools natively. */
export function canForward(access: ProviderAccess, model: string, dialect: Dialect, protocol: 'native' | 'text' | undefined): boolean {
  return adapters[access.kind].dialect === dialect.name && (protocol ?? profileFor(access, model).protocol) === 'native';
}

/** Throws `Problem` for everything but success: what the provider rejects about the body is the client's fault, other failures are not. */
export async function proxyChat(given: ProxyRequest): Promise<Response> {
  const { access, model, dialect, http, clock, ids, meter = noMeter, background = () => undefined } = given;
  const adapter = adapters[access.kind];
  const { normalize, exact, streamUsage } = profileFor(access, model);
  const isRewritten = given.agentRef !== undefined || normalize || (given.reserve !== undefined && streamUsage && lacksUsage(given));
  const request = isRewritten || !exact ? await withKeptItems(given) : given;
  const { body } = request;
  const headersOut = { ...adapter.headers, ...request.headers };
  const isForwarded = !isRewritten && (exact || !offersTools(body));
  const asked = isForwarded || !streamUsage ? request : withStreamUsage(request);
  if (given.reserve !== undefined) await given.reserve((await import('./request-bound.ts')).requestBound(given, asked.body));
  const sent = outgoingBody(asked);
  const exchange: ProviderExchange = { access, path: adapter.path({ model }), headers: headersOut, body: sent };
  if (isForwarded) {
    const firstByteMs = body.stream === true ? limits.providerFirstByteTimeoutMs : limits.providerWholeTimeoutMs;
    const abort = given.isWatched === true && body.stream === true ? new AbortController() : undefined;
    const options = { callersBody: true, firstByteMs, ...(abort && { signal: abort.signal }) };
    const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, options));
    const headers = await answerHeaders(access, response);
    // Forwards the bytes undecoded. The response ends with the provider or the client.
    // Providers that do not know the field report usage in any case.
    const reportsUsage = body.stream !== true || dialect.name !== 'openai-chat' || wantsUsage(body) || !streamUsage;
    const { readUsage } = adapter;
    const forwarding = { access, meter, readUsage, reportsUsage, clock, background, exchange: abort };
    const forwarded = await forwardBody(response, forwarding);
    return new Response(forwarded, { status: 200, headers });
  }
  const { agentRef } = request;
  const kept = body.store === false ? undefined : request.kept;
  const rewriting = { access, adapter, dialect, model, agentRef, kept, includeUsage: wantsUsage(body), clock, ids, meter };
  if (body.stream !== true) {
    const response = await withRetries(clock, undefined, () =>
      openHead({ http, clock }, exchange, { callersBody: true, firstByteMs: limits.providerWholeTimeoutMs }),
    );
    return await rewriteUnstreamed(response, { ...rewriting, headers: await answerHeaders(access, response) });
  }
  const signal = request.signal?.();
  const open = await withRetries(clock, signal, () => openReply({ http, clock }, exchange, signal, { callersBody: true }));
  const headers = await answerHeaders(access, open.response).catch((error: unknown) => {
    open.idle.stop();
    throw error;
  });
  return await rewriteStream(open, { ...rewriting, headers, signal });
}

/** Items that are not stored here may be the provider's own. */
async function withKeptItems(request: ProxyRequest): Promise<ProxyRequest> {
  const { kept, body } = request;
  if (kept === undefined) return request;
  const whole = await withReferredItems(kept, body, { unknown: 'leave' });
  return whole === body ? request : { ...request, body: whole, text: undefined };
}

/** Throws like `proxyChat`. null: the provider cannot count. */
export async function countTokens(request: Omit<ProxyRequest, 'signal' | 'ids'>): Promise<Response | null> {
  const { access, dialect, http, clock } = request;
  const adapter = adapters[access.kind];
  if (adapter.countTokensPath === undefined || adapter.dialect !== dialect.name) return null;
  const headers = { ...adapter.headers, ...request.headers };
  const exchange = { access, path: adapter.countTokensPath, headers, body: outgoingBody(request) };
  const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { callersBody: true }));
  const { bytes, truncated } = await readBounded(response, limits.maxErrorBodyBytes);
  if (truncated) throw malformedProblem(access, 'sent a token count that is too long');
  const type = response.headers.get('content-type') ?? 'application/json';
  const text = withoutKey(access, new TextDecoder().decode(bytes));
  return new Response(text, { status: 200, headers: { 'content-type': withoutKey(access, type) } });
}

/** A stream that is rewritten requests its usage, so that it can be counted; the client receives it only if it has asked for it. */
function withStreamUsage(request: ProxyRequest): ProxyRequest {
  const { body } = request;
  if (!lacksUsage(request)) return request;
  return { ...request, text: undefined, body: { ...body, stream_options: { ...recordOf(body.stream_options), include_usage: true } } };
}

function lacksUsage({ dialect, body }: Pick<ProxyRequest, 'dialect' | 'body'>): boolean {
  return dialect.name === 'openai-chat' && body.stream === true && !wantsUsage(body);
}

/** For dialects in which the client chooses. */
function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return recordOf(options).include_usage === true;
}

/** The deprecated functions count, since they also produce calls. */
function offersTools({ tools, functions }: Readonly<Record<string, unknown>>): boolean {
  return (Array.isArray(tools) && tools.length > 0) || Array.isArray(functions);
}

/**
 * Returns the client's body with the provider's model. Most bodies contain their model once; then only that place in the text changes, so
 * numbers, spacing and unknown fields stay unchanged and nothing is encoded again.
 */
function outgoingBody({ body, text, model, dialect }: Pick<ProxyRequest, 'body' | 'text' | 'model' | 'dialect'>): string {
  const { toolset, ...rest } = body;
  // Tokens are rare; this check is fast.
  if (dialect.withoutTokens !== undefined && (text === undefined || text.includes(nativeTokenPrefix))) {
    return JSON.stringify({ ...dialect.withoutTokens(rest), model });
  }
  const place = text === undefined || toolset !== undefined ? null : onlyModel(text, body.model);
  if (text === undefined || place === null) return JSON.stringify({ ...rest, model });
  return text.slice(0, place.start) + JSON.stringify(model) + text.slice(place.end);
}

/** Returns the range of the value of the body's only `"model": "…"`; null if there may be another one in a message or a schema. */
function onlyModel(text: string, ref: unknown): { start: number; end: number } | null {
  const key = text.indexOf('"model"');
  if (key === -1 || text.indexOf('"model"', key + 1) !== -1 || text.includes('\\u006')) return null;
  const value = JSON.stringify(ref);
  const start = text.indexOf(value, key + '"model"'.length);
  if (start === -1 || !/^\s*:\s*$/.test(text.slice(key + '"model"'.length, start))) return null;
  return { start, end: start + value.length };
}

/**
 * Returns the provider's headers that are useful to the client; drops cookies, keys and hop-by-hop headers. Throws if the response is a
 * page or empty. Reads headers by name, because iterating over all costs several times as much; the names of those returned are lower case.
 */
export async function answerHeaders(access: ProviderAccess, response: Response): Promise<Record<string, string>> {
  const type = response.headers.get('content-type') ?? '';
  // The body is not read if its length is declared: in workerd that makes a stream.
  const length = response.headers.get('content-length');
  const empty = length === null ? response.body === null : length === '0';
  if (empty || /^text\/html/i.test(type)) {
    await response.body?.cancel();
    throw malformedProblem(access, empty ? 'sent an empty reply' : `sent ${type.split(';')[0]} instead of a reply`);
  }
  const headers: Record<string, string> = { 'content-type': withoutKey(access, type) };
  if (limitHeaders.some((name) => response.headers.has(name))) {
    for (const [name, value] of response.headers) if (/^(x|anthropic)-ratelimit-/.test(name)) headers[name] = withoutKey(access, value);
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
