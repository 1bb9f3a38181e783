/**
 * The outbound client, the only caller of `fetch`. Each hop passes the guard and is sent through the network that fits its
 * host; redirects are followed here, because a public address may point anywhere. Response bodies are not touched.
 */
import { getOrBuild, once } from '../core/memoize.ts';
import { limits } from '../core/limits/limits.ts';
import { Problem } from '../core/problem.ts';
import type { OutboundHttp, OutboundOptions, OutboundPurpose } from '../ports/outbound.ts';
import type { WithTelemetry } from '../ports/telemetry.ts';
import type { TraceCarrier } from '../core/telemetry/trace-context.ts';
import { createGuard, type Destination, type Guard, type GuardSettings, OutboundRefused, settingFor } from './guard.ts';
import { headersForOtherOrigin } from './headers.ts';
import { type Connections, isUnexplained, whyBroken, whyUnsent } from './unsent.ts';
import { sha256Hex } from '../core/hash.ts';
import { abortAfter } from '../engine/timeout.ts';

const maxRedirects = 5;
const outboundTimeoutMs = 30_000;

/** `instance`: this installation in the hop header; without it no hop header is sent. */
export type OutboundSettings = GuardSettings & WithTelemetry & { instance?: InstanceName };

/** Sends one request and does not follow redirects. `isPrivate`: the operator allowed the host, so its address may be private. */
export type SendOnce = (request: Request, isPrivate: boolean) => Promise<Response>;

type Network = { fetch(request: Request): Promise<Response> };

/** Sends through the network services that the local runtime binds. Without them, as on Cloudflare, through `fetch`. */
export function sendThrough(bindings: { PUBLIC_NETWORK?: Network; PRIVATE_NETWORK?: Network }): SendOnce {
  const { PUBLIC_NETWORK: publicOnly, PRIVATE_NETWORK: unrestricted } = bindings;
  return (request, isPrivate) => {
    const network = isPrivate ? unrestricted : publicOnly;
    return network === undefined ? fetch(request) : network.fetch(request);
  };
}

/** `connections`: null: the runtime opens none but those of requests. */
export function createOutbound(
  settings: OutboundSettings,
  send: SendOnce = sendThrough({}),
  connections: Connections | null = null,
): OutboundHttp {
  const guard = rememberProviders(createGuard(settings));

  return async (request, options) => {
    let to = unsent(() => guard(request.url, options.purpose));
    options.onHop?.(to.url, 0);
    const signal = signalOf(options);

    // A provider's body is large and streamed. Other bodies are buffered, in case the same origin redirects.
    const isStreamed = options.purpose === 'provider';
    const body = isStreamed || request.body === null ? null : await request.arrayBuffer();
    let message: Message = { method: request.method, headers: request.headers, body };
    let outgoing = isStreamed ? unfollowed(request, signal) : toRequest(to.url, message, signal);
    if (settings.instance !== undefined) markHop(outgoing.headers, await settings.instance());
    if (settings.telemetry != null) markTrace(outgoing.headers, options.purpose, settings.telemetry.carrier());
    message = { ...message, headers: outgoing.headers };

    const closed = options.opensFirst === true && connections !== null ? await connections.whyClosed(to.url, to.isPrivate) : null;
    if (closed !== null) throw unreachable(to, options, closed, { sent: false });
    for (let redirects = 0; ; redirects += 1) {
      const response = await sendOnce({ send, connections }, outgoing, to, options, signal, redirects);
      const location = redirectStatuses.has(response.status) ? response.headers.get('location') : null;
      if (location === null) return response;
      await response.body?.cancel();
      if (redirects >= maxRedirects) throw new OutboundRefused('redirects', `${to.url.host} redirected more than ${maxRedirects} times.`);
      const target = resolveLocation(location, to.url);
      // `onHop` may reject the redirect; the guard's message would advise allowing the target.
      const isAskedFirst = options.purpose === 'server' || options.purpose === 'webhook';
      if (isAskedFirst) options.onHop?.(new URL(target), redirects + 1);
      const next = guard(target, options.purpose);
      if (isStreamed && request.body !== null) {
        throw new OutboundRefused(
          'redirect-body',
          `${to.url.host} redirects to ${next.url.host}. Set the provider's baseUrl to the URL that it redirects to.`,
        );
      }
      if (!isAskedFirst) options.onHop?.(next.url, redirects + 1);
      message = redirected(message, response.status, to.url, next.url);
      outgoing = toRequest(next.url, message, signal);
      to = next;
    }
  };
}

/**
 * Providers and servers of tools are the operator's choice and get `traceparent`. The tool's own requests go to hosts that a model may have
 * named and get nothing. `tracestate` holds data of other vendors, so providers do not get it.
 */
function markTrace(headers: Headers, purpose: OutboundPurpose, trace: TraceCarrier | null): void {
  if (trace === null || (purpose !== 'provider' && purpose !== 'server') || headers.has('traceparent')) return;
  headers.set('traceparent', trace.traceparent);
  if (purpose === 'server' && trace.tracestate !== undefined) headers.set('tracestate', trace.tracestate);
}

/** Caches allowed URLs of providers, which have few: the guard's verdict depends only on the text and the settings. */
function rememberProviders(guard: Guard): Guard {
  const passed = new Map<string, Destination>();
  return (text, purpose) => {
    if (purpose !== 'provider') return guard(text, purpose);
    return getOrBuild(passed, text, limits.maxCachedNames, () => guard(text, purpose));
  };
}

/** Returns the request itself if it can be sent: a copy costs as much as the rest of the outbound client. */
function unfollowed(request: Request, signal: AbortSignal | null): Request {
  return request.redirect === 'manual' && signal === null
    ? request
    : new Request(request, { redirect: 'manual', ...(signal && { signal }) });
}

type Message = { method: string; headers: Headers; body: ArrayBuffer | null };

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Builds the next request as browsers do, but sends no possible credential to another origin. */
function redirected(message: Message, status: number, from: URL, to: URL): Message {
  let { method, headers, body } = message;
  const asGet = status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
  if (asGet) {
    method = 'GET';
    body = null;
    headers = new Headers([...headers].filter(([name]) => !name.startsWith('content-')));
  }
  if (from.origin === to.origin) return { method, headers, body };
  if (body !== null)
    throw new OutboundRefused(
      'redirect-body',
      `${from.host} redirects a request with a body to ${to.host}. Send it to the new URL if that is intended.`,
    );
  return { method, headers: headersForOtherOrigin(headers), body };
}

function resolveLocation(location: string, base: URL): string {
  // The URL parser silently drops line breaks and tabs, so reject a location that contains them.
  const control = /[^\x20-\x7e\u0080-\uffff]/.test(location);
  if (control || location.length > limits.maxUrlLength) throw new OutboundRefused('url', `${base.host} redirects to an invalid URL.`);
  const url = URL.parse(location, base);
  if (url === null) throw new OutboundRefused('url', `${base.host} redirects to an invalid URL.`);
  return url.href;
}

function toRequest(url: URL, message: Message, signal: AbortSignal | null): Request {
  return new Request(url, {
    method: message.method,
    headers: message.headers,
    body: message.body,
    redirect: 'manual',
    ...(signal && { signal }),
  });
}

/** The clock is on this floor. */
const timers = {
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Providers set their own timeouts, depending on the model. All other requests have one timeout for the whole exchange. */
function signalOf(options: OutboundOptions): AbortSignal | null {
  const { signal: callers } = options;
  if (options.purpose === 'provider') return callers ?? null;
  const late = (): DOMException => new DOMException('the exchange took too long', 'TimeoutError');
  return abortAfter(timers, options.timeoutMs ?? outboundTimeoutMs, late, callers).signal;
}

async function sendOnce(
  { send, connections }: { send: SendOnce; connections: Connections | null },
  request: Request,
  destination: Destination,
  options: OutboundOptions,
  signal: AbortSignal | null,
  redirects: number,
): Promise<Response> {
  const { url, isPrivate } = destination;
  try {
    return await send(request, isPrivate);
  } catch (cause) {
    if (options.signal?.aborted === true) throw cause;
    if (signal?.aborted === true) {
      throw new Problem(
        'upstream_timeout',
        `${url.host} did not respond within ${(options.timeoutMs ?? outboundTimeoutMs) / 1000} s.`,
        { retryable: true },
        { cause },
      );
    }
    const why = whyUnsent(cause);
    if (why !== null) throw unreachable(destination, options, why, { sent: redirects > 0 }, cause);
    const likely = !isPrivate && isUnexplained(cause) ? likelyReason(url) : null;
    const what =
      whyBroken(cause) ?? (await connections?.whyBroken(url, isPrivate)) ?? `could not be reached${likely ?? ', or the connection broke'}`;
    throw upstreamError(destination, options, what, { sent: true }, cause);
  }
}

function unreachable(destination: Destination, options: OutboundOptions, why: string, extra: { sent: boolean }, cause?: unknown): Problem {
  return upstreamError(destination, options, `could not be reached: ${why}`, extra, cause);
}

/** `what` completes "The host …". */
function upstreamError(
  { url }: Destination,
  { purpose }: OutboundOptions,
  what: string,
  extra: { sent: boolean },
  cause: unknown,
): Problem {
  const remedy = what.includes('a private address') ? ` ${settingFor(url, purpose)}.` : '';
  return new Problem('upstream_error', `${url.host} ${what}.${remedy}`, { retryable: true, ...extra }, { cause });
}

/** What is refused before the first request is not sent; after a redirect, the first server has had it. */
function unsent<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof OutboundRefused) Object.assign(error.extra, { sent: false });
    throw error;
  }
}

function likelyReason(url: URL): string {
  const tls = url.protocol === 'https:' ? 'the TLS handshake failed, or ' : '';
  return `: ${tls}its name does not resolve, or resolves to a private address`;
}

/**
 * Loop detection: every outgoing request carries a header that names this installation, and an incoming request with that name is a loop
 * through another host name. Both halves are here.
 */
export const hopHeader = 'x-moniker-hop';

/** Returns a name that is the same in every isolate of one installation and reveals nothing: half a digest of its master key. */
type InstanceName = () => Promise<string>;

export function createInstanceName(masterKey: string): InstanceName {
  return once(async () => (await sha256Hex(`moniker hop ${masterKey}`)).slice(0, 32));
}

function markHop(headers: Headers, instance: string): void {
  headers.set(hopHeader, instance);
}

/** Throws `loop_detected` for a request that this installation sent itself. */
export function refuseOwnHop(headers: Headers, instance: string): void {
  if (headers.get(hopHeader) === instance)
    throw new Problem('loop_detected', 'Loop detected: this request was sent by the same Moniker installation.');
}
