/**
 * A chat without server tools and session, in the dialect that is the provider's own wire: the caller's own request to the provider,
 * the provider's own bytes back. A reply is read and written anew (`rewrite-reply.ts`) where the provider's profile asks for it, and
 * where it may hold calls and nobody has seen that its wire is exact.
 */
import { nativeTokenPrefix } from '../core/native-token.ts';
import { limits } from '../core/limits.ts';
import type { ProviderAccess } from '../core/provider.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { profileFor } from './profiles.ts';
import { adapterFor } from './registry.ts';
import { malformedProblem } from './provider-error.ts';
import { bodyWithoutKey, withoutKey } from './provider-secrets.ts';
import { withRetries } from './retry.ts';
import { rewriteStream, rewriteWhole } from './rewrite-reply.ts';
import { type Exchange, openHead, openReply } from './transport.ts';

export type ProxyRequest = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  dialect: Dialect;
  /** The request as the caller sent it, parsed. Not changed. */
  body: Readonly<Record<string, unknown>>;
  /** The same as it came. Where only the model must change, it is changed in here. */
  text?: string | undefined;
  /** Of the caller's request, that the provider is to see. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** An agent's ref: what the answer names as its model, so that nobody learns which one is behind it. */
  agentRef?: string | undefined;
  http: OutboundHttp;
  clock: Clock;
  /** Aborts when the caller leaves. Asked for only where something here has to hear of it: having one is dear. */
  signal?(): AbortSignal;
};

/** Whether a request in this dialect is the provider's own wire; with tools, only where the model has tools of its own. */
export function isPassedOn(access: ProviderAccess, model: string, dialect: Dialect, protocol: 'native' | 'text' | undefined): boolean {
  return adapterFor(access.kind).dialect === dialect.name && (protocol ?? profileFor(access, model).protocol) === 'native';
}

/** Throws `Problem` for everything but success: what the provider refuses about the body is the caller's, the rest is not. */
export async function proxyChat(request: ProxyRequest): Promise<Response> {
  const { access, model, body, dialect, http, clock } = request;
  const adapter = adapterFor(access.kind);
  const headersOut = { ...adapter.headers, ...request.headers };
  const exchange: Exchange = { access, path: adapter.path({ model }), headers: headersOut, body: outgoingBody(request) };
  const { normalize, exact } = profileFor(access, model);
  if (request.agentRef === undefined && !normalize && (exact || !offersTools(body))) {
    const firstByteMs = body.stream === true ? limits.providerFirstByteTimeoutMs : limits.providerWholeTimeoutMs;
    const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { callersBody: true, firstByteMs }));
    const headers = await answerHeaders(access, response);
    // Not decoded and encoded again. It ends with the provider, or with the caller.
    return new Response(bodyWithoutKey(access, response.body), { status: 200, headers });
  }
  const signal = request.signal?.();
  const open = await withRetries(clock, signal, () => openReply({ http, clock }, exchange, signal, { callersBody: true }));
  const headers = await answerHeaders(access, open.response).catch((error: unknown) => {
    open.patience.stop();
    throw error;
  });
  const { agentRef } = request;
  const rewriting = { access, adapter, dialect, model, agentRef, includeUsage: wantsUsage(body), clock, headers, signal };
  return body.stream === true ? await rewriteStream(open, rewriting) : await rewriteWhole(open, rewriting);
}

/** Of dialects that leave it to the client. */
function wantsUsage({ stream_options: options }: Readonly<Record<string, unknown>>): boolean {
  return typeof options === 'object' && options !== null && (options as Record<string, unknown>).include_usage === true;
}

/** Functions of the old form count: they come back as calls. */
function offersTools({ tools, functions }: Readonly<Record<string, unknown>>): boolean {
  return (Array.isArray(tools) && tools.length > 0) || Array.isArray(functions);
}

/**
 * The caller's body with the model of the provider. Most bodies name their model once, and then the text is sent on with
 * that one place changed: numbers, spacing and unknown fields stay as they came, and nothing is encoded again.
 */
export function outgoingBody({ body, text, model, dialect }: Pick<ProxyRequest, 'body' | 'text' | 'model' | 'dialect'>): string {
  const { toolset, ...rest } = body;
  // Nearly always there is no token, which takes one look.
  if (dialect.withoutTokens !== undefined && (text === undefined || text.includes(nativeTokenPrefix))) {
    return JSON.stringify({ ...dialect.withoutTokens(rest), model });
  }
  const place = text === undefined || toolset !== undefined ? null : onlyModel(text, body.model);
  if (text === undefined || place === null) return JSON.stringify({ ...rest, model });
  return text.slice(0, place.start) + JSON.stringify(model) + text.slice(place.end);
}

/** Where the body's one `"model": "…"` has its value; null when there may be another, inside a message or a schema. */
function onlyModel(text: string, ref: unknown): { start: number; end: number } | null {
  const key = text.indexOf('"model"');
  if (key === -1 || text.indexOf('"model"', key + 1) !== -1 || text.includes('\\u006')) return null;
  const value = JSON.stringify(ref);
  const start = text.indexOf(value, key + '"model"'.length);
  if (start === -1 || !/^\s*:\s*$/.test(text.slice(key + '"model"'.length, start))) return null;
  return { start, end: start + value.length };
}

/**
 * What of the provider's headers means something to the caller; cookies, keys and hop-by-hop headers stay behind. Throws
 * where the answer is a page or nothing. Read by name: walking all of them costs several times as much.
 */
async function answerHeaders(access: ProviderAccess, response: Response): Promise<Headers> {
  const type = response.headers.get('content-type') ?? '';
  const empty = response.body === null || response.headers.get('content-length') === '0';
  if (empty || /^text\/html/i.test(type)) {
    await response.body?.cancel();
    throw malformedProblem(access, empty ? 'sent an empty answer' : `sent ${type.split(';')[0]} where an answer was expected`);
  }
  const headers = new Headers({ 'content-type': withoutKey(access, type) });
  if (limitHeaders.some((name) => response.headers.has(name))) {
    for (const [name, value] of response.headers) if (/^(x|anthropic)-ratelimit-/.test(name)) headers.set(name, withoutKey(access, value));
  }
  return headers;
}

/** One of these stands for all of a provider's `x-ratelimit-…` or `anthropic-ratelimit-…`. */
const limitHeaders = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining',
  'anthropic-ratelimit-requests-limit',
];
