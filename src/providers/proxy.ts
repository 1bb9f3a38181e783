/**
 * A chat completion without server tools and session: the caller's own request to the provider, the provider's own bytes
 * back. Only where the provider's profile asks for it is a reply read and written anew (`rewrite-reply.ts`).
 */
import type { ProviderAccess } from '../core/provider.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import { profileFor } from './profiles.ts';
import { malformedProblem } from './provider-error.ts';
import { withRetries } from './retry.ts';
import { rewriteStream, rewriteWhole } from './rewrite-reply.ts';
import { type Exchange, openHead, openReply } from './transport.ts';

export type ProxyRequest = {
  access: ProviderAccess;
  /** The model half of the ref. */
  model: string;
  /** The request as the caller sent it, parsed. Not changed. */
  body: Readonly<Record<string, unknown>>;
  /** The same as it came. Where only the model must change, it is changed in here. */
  text?: string;
  http: OutboundHttp;
  clock: Clock;
  /** Aborts when the caller leaves. Asked for only where something here has to hear of it: having one is dear. */
  signal?(): AbortSignal;
};

/** Throws `Problem` for everything but success: what the provider refuses about the body is the caller's, the rest is not. */
export async function proxyChat(request: ProxyRequest): Promise<Response> {
  const { access, model, body, http, clock } = request;
  const exchange: Exchange = { access, path: '/chat/completions', body: outgoingBody(request) };
  if (!profileFor(access, model).normalize) {
    const response = await withRetries(clock, undefined, () => openHead({ http, clock }, exchange, { callersBody: true }));
    const headers = await answerHeaders(access, response);
    // Untouched by JavaScript, which costs a tenth of reading it. It ends with the provider, or with the caller.
    return new Response(response.body, { status: 200, headers });
  }
  const signal = request.signal?.();
  const open = await withRetries(clock, signal, () => openReply({ http, clock }, exchange, signal, { callersBody: true }));
  const headers = await answerHeaders(access, open.response).catch((error: unknown) => {
    open.patience.stop();
    throw error;
  });
  const rewriting = { access, model, body, clock, headers, signal };
  return body.stream === true ? await rewriteStream(open, rewriting) : await rewriteWhole(open, rewriting);
}

/**
 * The caller's body with the model of the provider. Most bodies name their model once, and then the text is sent on with
 * that one place changed: numbers, spacing and unknown fields stay as they came, and nothing is encoded again.
 */
function outgoingBody({ body, text, model }: ProxyRequest): string {
  const { toolset, ...rest } = body;
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
  const headers = new Headers({ 'content-type': type });
  const cacheControl = response.headers.get('cache-control');
  if (cacheControl !== null) headers.set('cache-control', cacheControl);
  if (limitHeaders.some((name) => response.headers.has(name))) {
    for (const [name, value] of response.headers) if (name.startsWith('x-ratelimit-')) headers.set(name, value);
  }
  return headers;
}

/** One of these stands for all of a provider's `x-ratelimit-…`. */
const limitHeaders = ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-remaining'];
