/**
 * The SDK's transport to one server, with corrections that the SDK's client needs:
 * - JSON-RPC ids and progress tokens are unguessable and unique across our clients, even on one session (the SDK counts from 0 for each
 *   client; two calls of a conversation share a session and would receive each other's responses);
 * - results are stored unparsed, because the SDK rejects a whole list for one invalid definition and a whole result for one content block
 *   of a new type; callers parse them leniently;
 * - a stream that ends without its response fails the call at once and is not resumed endlessly.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  SseError,
  type JSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type StreamableHTTPClientTransportOptions,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { cutBelow, recordOf } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import type { Problem } from '../../core/problem.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import { permanentError, upstreamError } from './upstream-fault.ts';
import { backoffMs, delayOrAsked } from '../../core/limits/backoff.ts';

/**
 * Messages of a server during one call or one subscription, and more for each second of it: a talkative call has some hundred, one of hours
 * reports its progress all the time, and each costs work.
 */
export const maxServerMessages = 10_000;
const moreMessagesPerSecond = 10;
/** Retries of an interrupted event stream, with increasing waits, whatever the server requests. */
export const maxStreamResumptions = 3;
const resumptionBackoff = { firstMs: 1_000, factor: 4, maxMs: 10_000 };
/** The first event of an HTTP+SSE stream. */
const endpointTimeoutMs = 10_000;

export type WireOptions = {
  server: string;
  url: URL;
  transport: StreamableHTTPClientTransportOptions;
  /** Capabilities declared to servers of the 2025 eras instead of those of 2026. */
  legacyCapabilities: Record<string, unknown>;
  /** HTTP+SSE (2024-11-05): one stream for all responses, which is the session. */
  isSse: boolean;
  /** The id of the first request, which was sent already; absent: a random one. */
  firstId?: number | undefined;
};

/** Key of a result that the SDK has not parsed. */
export const unparsedResult = 'moniker/as-it-came';

export class Wire implements Transport {
  readonly isSse: boolean;
  readonly hasPerRequestStream: boolean;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  /** Set after a fault that ends everything; `failed` aborts with it. */
  failure: Problem | null = null;
  /** An SSE server has named the endpoint for messages. */
  isStarted = false;
  /** The server has responded to something besides the handshake, so the request may have had an effect. */
  hasAnswered = false;
  readonly #failed = new AbortController();
  readonly #server: string;
  readonly #inner: StreamableHTTPClientTransport | SSEClientTransport;
  readonly #legacyCapabilities: Record<string, unknown>;
  /** Added to every number that the SDK assigns. */
  #base = randomBase();
  #firstId: number | undefined;
  /** Our open requests, by the SDK's number. */
  readonly #open = new Map<number, string>();
  readonly #serverStreams: StreamableHTTPClientTransport[] = [];
  readonly #cancellations = new Set<Promise<unknown>>();
  readonly #openedAt = systemClock.now();
  #messages = 0;
  #resumptions = 0;

  constructor({ server, url, transport, legacyCapabilities, isSse, firstId }: WireOptions) {
    this.#server = server;
    this.#firstId = firstId;
    this.#legacyCapabilities = legacyCapabilities;
    this.isSse = isSse;
    this.hasPerRequestStream = !isSse;
    this.#inner = isSse
      ? new SSEClientTransport(url, transport)
      : new StreamableHTTPClientTransport(url, {
          ...transport,
          reconnectionScheduler: (reconnect, delayMs) => this.#resume(reconnect, delayMs),
        });
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => {
      this.onerror?.(error);
      // A new stream would be a new session, without the responses of this one.
      if (this.isStarted && error instanceof SseError) this.#breakOff();
    };
    this.#inner.onmessage = (message) => this.receive(message);
  }

  get failed(): AbortSignal {
    return this.#failed.signal;
  }

  get sessionId(): string | undefined {
    return this.#inner instanceof SSEClientTransport ? undefined : this.#inner.sessionId;
  }

  get protocolVersion(): string | undefined {
    return this.#inner instanceof SSEClientTransport ? undefined : this.#inner.protocolVersion;
  }

  fail(problem: Problem): void {
    if (this.failure !== null) return;
    this.failure = problem;
    this.#failed.abort(problem);
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  async start(): Promise<void> {
    if (!this.isSse) return await this.#inner.start();
    const late = (): never => {
      throw permanentError(this.#server, 'opened an event stream without the event `endpoint`, which HTTP+SSE requires.');
    };
    await withTimeout(systemClock, this.#inner.start(), endpointTimeoutMs, late);
    this.isStarted = true;
  }

  async close(): Promise<void> {
    await Promise.all([this.#inner, ...this.#serverStreams].map((transport) => transport.close()));
  }

  /** Registers another stream of the same session. */
  closesWith(stream: StreamableHTTPClientTransport): void {
    this.#serverStreams.push(stream);
  }

  async endSession(): Promise<void> {
    if (!(this.#inner instanceof SSEClientTransport)) await this.#inner.terminateSession();
  }

  /** Tracks a notification sent after the caller stopped waiting: the cancellation of a call or task. */
  trackCancellation(notice: Promise<unknown>): void {
    const sent = notice.catch(() => {
      // The server may be gone; the cancellation only saves it work.
    });
    this.#cancellations.add(sent);
  }

  /** Waits until all of them are sent or have failed. */
  async flushCancellations(): Promise<void> {
    await Promise.allSettled(this.#cancellations);
  }

  async send(message: JSONRPCMessage, options: TransportSendOptions = {}): Promise<void> {
    if (!isJSONRPCRequest(message) || typeof message.id !== 'number') {
      const sending = this.#post(isJSONRPCNotification(message) ? this.#renumbered(message) : message, options);
      if (isJSONRPCNotification(message) && message.method === 'notifications/cancelled') this.trackCancellation(sending);
      return sending;
    }
    const { id } = message;
    if (this.#firstId !== undefined) this.#base = this.#firstId - id;
    this.#firstId = undefined;
    this.#open.set(id, message.method);
    return this.#post(this.#renumbered({ ...message, id: this.#base + id }), {
      ...options,
      onRequestStreamEnd: () => {
        options.onRequestStreamEnd?.();
        if (this.#open.has(id)) this.#breakOff();
      },
    });
  }

  #post(message: JSONRPCMessage, options: TransportSendOptions): Promise<void> {
    return this.#inner instanceof SSEClientTransport ? this.#inner.send(message) : this.#inner.send(message, options);
  }

  /** Receives a message of the server from any stream. */
  receive(message: JSONRPCMessage): void {
    this.#messages += 1;
    const openMs = systemClock.now() - this.#openedAt;
    if (this.#messages > maxServerMessages + (openMs / 1_000) * moreMessagesPerSecond) {
      this.fail(permanentError(this.#server, `sent ${this.#messages} messages in ${Math.round(openMs / 1_000)} s without a response.`));
      return;
    }
    if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) {
      this.#receiveAnswer(message);
      return;
    }
    if (isJSONRPCNotification(message) && message.method === 'notifications/progress') {
      const params = recordOf(message.params);
      this.onmessage?.({ ...message, params: { ...params, progressToken: Number(params.progressToken) - this.#base } });
      return;
    }
    this.onmessage?.(message);
  }

  #receiveAnswer(message: JSONRPCMessage & { id?: string | number }): void {
    const id = Number(message.id) - this.#base;
    // The SDK's own string ids, used for its probe and for subscriptions.
    if (Number.isNaN(id)) {
      this.onmessage?.(message);
      return;
    }
    const method = this.#open.get(id);
    // An unknown id or a second response: the caller keeps waiting.
    if (method === undefined) return;
    this.#open.delete(id);
    this.hasAnswered ||= !handshakes.has(method) && method !== 'logging/setLevel';
    const seen = isJSONRPCResultResponse(message) ? { result: seenBySdk(method, message.result) } : {};
    this.onmessage?.({ ...message, id, ...seen } as JSONRPCMessage);
  }

  #renumbered<T extends JSONRPCMessage & { method: string; params?: unknown }>(message: T): T {
    const params = recordOf(message.params);
    if (message.method === 'initialize') return { ...message, params: { ...params, capabilities: this.#legacyCapabilities } };
    if (message.method === 'notifications/cancelled' && typeof params.requestId === 'number') {
      return { ...message, params: { ...params, requestId: this.#base + params.requestId } };
    }
    const meta = recordOf(params._meta);
    if (typeof meta.progressToken !== 'number') return message;
    return { ...message, params: { ...params, _meta: { ...meta, progressToken: this.#base + meta.progressToken } } };
  }

  /** The SDK restarts its retry count with each stream, and a server may set the delay to zero. */
  #resume(reconnect: () => void, delayMs: number): () => void {
    this.#resumptions += 1;
    if (this.#resumptions > maxStreamResumptions) {
      this.#breakOff();
      return () => {};
    }
    // The first is immediate, unless the server wants a delay.
    const grownMs = backoffMs(resumptionBackoff, this.#resumptions - 1);
    return systemClock.after(delayOrAsked(grownMs, { askedMs: delayMs, maxAskedMs: resumptionBackoff.maxMs }), reconnect);
  }

  #breakOff(): void {
    this.fail(upstreamError(this.#server, 'ended its event stream without a response.', undefined, { retryable: true }));
  }
}

/** Returns an empty result for the SDK, which walks the whole result recursively and overflows the stack if it is nested too deeply. */
function seenBySdk(method: string, result: unknown): unknown {
  if (handshakes.has(method)) return cutBelow(result, limits.maxJsonDepth);
  return { ...emptyResults[method], resultType: 'complete', [unparsedResult]: result };
}

/** The SDK reads the results of these itself. */
const handshakes: ReadonlySet<string> = new Set(['initialize', 'server/discover']);

const cacheable = { ttlMs: 0, cacheScope: 'private' };

/** Minimal results that the SDK accepts for each method that it checks. */
const emptyResults: Readonly<Record<string, Record<string, unknown>>> = {
  'tools/call': { content: [] },
  'tools/list': { tools: [], ...cacheable },
  'prompts/list': { prompts: [], ...cacheable },
  'prompts/get': { messages: [] },
  'resources/list': { resources: [], ...cacheable },
  'resources/templates/list': { resourceTemplates: [], ...cacheable },
  'resources/read': { contents: [], ...cacheable },
  'completion/complete': { completion: { values: [] } },
};

/** 48 bits: the sum with any count of a client is still an exact number. */
export function randomBase(): number {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return (high % 2 ** 16) * 2 ** 32 + low;
}
