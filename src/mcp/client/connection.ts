/**
 * A connection to an MCP server for one piece of work: the JSON-RPC of a client, in both eras. It begins with a handshake or with what is
 * known of the server, and ends with the work (in the Worker, connections belong to one request). Results are the server's, unchanged;
 * callers read them leniently.
 */
import { limits } from '../../core/limits/limits.ts';
import type { Problem } from '../../core/problem.ts';
import type { ServerAccess } from '../../core/servers/server.ts';
import type { UpstreamMethod } from '../../core/tools/upstream-method.ts';
import type { ServerRpcError } from '../../engine/mcp/rpc-error.ts';
import { createIdleTimeout, type IdleTimeout, withTimeout } from '../../engine/timeout.ts';
import { systemClock } from '../../platform/clock.ts';
import type { UpstreamHooks } from '../../ports/upstream.ts';
import { notificationText, requestText, type McpMessage } from '../server/messages.ts';
import { metaNames } from '../server/revisions.ts';
import { rpcCodes } from '../server/rpc-fault.ts';
import type { NegotiatedConnection } from './connection-memory.ts';
import { type DeclaredCapabilities, envelopeOf, modernHeaders } from './declared-capabilities.ts';
import type { Endpoint } from './endpoint.ts';
import { createInbound, type Inbound } from './inbound.ts';
import { handshakes, postRepeatably } from './repeat-reading.ts';
import { type PostOptions, Transport } from './transport.ts';
import { HttpFault, permanentError, toServerError, upstreamError, upstreamTimeout } from './upstream-fault.ts';

/**
 * Messages of a server during one call or one subscription, and more for each second of it: a talkative call has some hundred, one of hours
 * reports its progress all the time, and each costs work.
 */
export const maxServerMessages = 10_000;
const moreMessagesPerSecond = 10;
/** Notifications to a server at the end (a call is canceled, a session has ended) take at most this long. */
const cancellationNoticeMs = 1_000;

export type ConnectionParts = {
  server: ServerAccess;
  endpoint: Endpoint;
  hooks: UpstreamHooks;
  capabilities: DeclaredCapabilities;
  /** What is known of the server; null: a handshake follows. */
  known: NegotiatedConnection | null;
  /** Ends the work. */
  signal: AbortSignal;
  /** Bytes that may still arrive, for one response or for all responses together. */
  budget(): { left: number };
  /** The limit of the whole work. */
  totalMs: number;
};

/** What a server says of itself in the handshake. */
export type ServerHello = { capabilities: Record<string, unknown>; info?: { name: string; version: string }; instructions?: string };

type Params = Record<string, unknown>;
type OpenRequest = {
  method: UpstreamMethod;
  resolve(result: Record<string, unknown>): void;
  reject(reason: unknown): void;
  acknowledged?(): void;
};
/** `acknowledged`: called when the server confirms a subscription. */
type RequestOptions = { headers?: Record<string, string>; acknowledged?(): void };

export class Connection {
  readonly transport: Transport;
  readonly idleTimeout: IdleTimeout;
  /** Resolves when the server was given the client's roots. */
  readonly rootsRead: Promise<void>;
  /** null: there was no handshake. */
  hello: ServerHello | null = null;
  /** Set after a fault that ends everything; `signal` aborts with it. */
  failure: Problem | null = null;
  /** The server has responded to something besides the handshake, so the request may have had an effect. */
  hasAnswered = false;
  readonly #parts: ConnectionParts;
  readonly #inbound: Inbound;
  readonly #work = new AbortController();
  readonly #follow = (): void => this.#end(this.#parts.signal.reason);
  readonly #open = new Map<number, OpenRequest>();
  readonly #lastMessages: Promise<unknown>[] = [];
  readonly #openedAt = systemClock.now();
  #negotiated: NegotiatedConnection | null = null;
  #nextId = randomId();
  #messages = 0;
  #asking: Promise<void> | null = null;

  constructor(parts: ConnectionParts) {
    const { server, endpoint, hooks, known, signal, budget, totalMs } = parts;
    this.#parts = parts;
    this.transport = new Transport({
      ...{ server: server.name, endpoint, budget, isSse: server.mcp?.transport === 'sse' },
      receive: (message) => this.#receive(message),
      fail: (problem) => this.fail(problem),
    });
    this.idleTimeout = createIdleTimeout(systemClock, { idleMs: server.timeoutMs ?? limits.serverTimeoutMs, maxMs: totalMs });
    const rootsRead = Promise.withResolvers<void>();
    this.rootsRead = rootsRead.promise;
    this.#inbound = createInbound(server, hooks, {
      ...{ idleTimeout: this.idleTimeout, rootsRead: rootsRead.resolve },
      isAsked: () => !this.signal.aborted,
      send: (text) => this.transport.post(text),
      unsent: () =>
        this.fail(upstreamError(server.name, 'asked something, and could not be sent the answer: the connection failed twice.')),
    });
    if (known !== null) this.adopt(known);
    signal.addEventListener('abort', this.#follow, { once: true });
    this.idleTimeout.start((ms) => this.fail(upstreamTimeout(server.name, ms)));
    if (signal.aborted) this.#follow();
  }

  /** Aborts with the caller's signal, and when the connection fails. */
  get signal(): AbortSignal {
    return this.#work.signal;
  }

  /** `legacy` until the server has shown that it has 2026-07-28. */
  get era(): NegotiatedConnection['era'] {
    return this.#negotiated?.era ?? 'legacy';
  }

  /** All further messages are of this revision. */
  adopt(negotiated: NegotiatedConnection, hello: ServerHello | null = null): void {
    this.#negotiated = negotiated;
    this.hello = hello;
    this.transport.session.version = negotiated.version;
    if (negotiated.era === 'legacy') this.transport.session.id = negotiated.sessionId;
  }

  fail(problem: Problem): void {
    this.failure ??= problem;
    this.#end(problem);
  }

  /** Sends a request, and returns its result. Throws `ServerRpcError`, `HttpFault` or a problem; when `signal` aborts, its reason. */
  async request(method: UpstreamMethod, params: Params, { headers, acknowledged }: RequestOptions = {}): Promise<Record<string, unknown>> {
    const { hooks } = this.#parts;
    this.idleTimeout.extend();
    const id = this.#nextId++;
    const written = this.#write(id, method, params, { ...hooks.meta, progressToken: id });
    const result = await this.#exchange(id, method, written.text, { ...headers, ...written.headers }, acknowledged);
    hooks.alive?.();
    return result;
  }

  /** Sends a request of the handshake: without progress, and in the revision that `headers` name. */
  async handshake(method: UpstreamMethod, params: Params, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const id = this.#nextId++;
    return await this.#exchange(id, method, requestText(id, method, params), headers);
  }

  async notify(method: string): Promise<void> {
    const post = (): Promise<void> => this.transport.post(notificationText(method));
    // Of the handshake, as what follows it.
    await postRepeatably('initialize', post, () => !this.signal.aborted);
  }

  /** Sends a request after the caller has stopped waiting, to save the server work. */
  sendLast(method: UpstreamMethod, params: Params): void {
    const { text, headers } = this.#write(this.#nextId++, method, params, {});
    this.#track(this.transport.post(text, { headers, isWaiting: () => false }));
  }

  /** Opens the stream for requests of the server during a call (2025 revisions); once for each connection. */
  openAskingStream(): Promise<void> {
    this.#asking ??= this.transport.openServerStream(() => undefined);
    return this.#asking;
  }

  /** Sends the last messages within a short timeout, and closes. `endsSession`: resolves then; otherwise at once. */
  async close(endsSession: boolean): Promise<void> {
    this.idleTimeout.stop();
    this.#parts.signal.removeEventListener('abort', this.#follow);
    if (!endsSession && this.#lastMessages.length === 0) return this.transport.close();
    const sendLastMessages = async (): Promise<void> => {
      await Promise.all(this.#lastMessages);
      if (endsSession && this.failure === null) await this.transport.endSession();
    };
    const closed = withTimeout(systemClock, sendLastMessages(), cancellationNoticeMs, () => undefined)
      .catch(() => {
        // The server may already be gone.
      })
      .then(() => this.transport.close());
    if (endsSession) await closed;
  }

  #exchange(
    id: number,
    method: UpstreamMethod,
    text: string,
    headers: Record<string, string>,
    acknowledged?: () => void,
  ): Promise<Record<string, unknown>> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    this.#open.set(id, { method, resolve, reject, ...(acknowledged && { acknowledged }) });
    const options: PostOptions = {
      ...{ headers, isWaiting: () => this.#open.has(id), startsSession: method === 'initialize' },
      hasResumption: this.era === 'legacy',
    };
    const post = (): Promise<void> => this.transport.post(text, options);
    postRepeatably(method, post, () => this.#open.has(id)).catch((error: unknown) => {
      this.#settle(id)?.reject((headers['mcp-method'] !== undefined && rpcErrorOf(error, id)) || error);
    });
    return promise;
  }

  #settle(id: number): OpenRequest | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    return open;
  }

  /** Ends the work: all requests fail with `reason`, and the server is notified (2026-07-28: by closing the request). */
  #end(reason: unknown): void {
    if (this.signal.aborted) return;
    for (const [id, { method, reject }] of this.#open) {
      if (this.era === 'legacy' && !handshakes.has(method))
        this.#track(this.transport.post(notificationText('notifications/cancelled', { requestId: id, reason: String(reason) })));
      reject(reason);
    }
    this.#open.clear();
    this.#work.abort(reason);
  }

  #track(notice: Promise<unknown>): void {
    const sent = notice.catch(() => {
      // The server may be gone; the notice only saves it work.
    });
    this.#lastMessages.push(sent);
  }

  /** Writes a request. One of 2026-07-28 names its revision and its client, and repeats some of its body in `headers`. */
  #write(id: number, method: UpstreamMethod, params: Params, meta: Params): { text: string; headers: Record<string, string> } {
    if (this.#negotiated?.era !== 'modern') return { text: requestText(id, method, { ...params, _meta: meta }), headers: {} };
    const { version } = this.#negotiated;
    const { hooks, capabilities } = this.#parts;
    // Servers of 2026 send log messages only on request.
    const level = hooks.notice === undefined ? {} : { [metaNames.logLevel]: hooks.logLevel ?? 'info' };
    const _meta = { ...meta, ...level, ...envelopeOf(version, capabilities) };
    return { text: requestText(id, method, { ...params, _meta }), headers: modernHeaders(version, method, params) };
  }

  /** Receives a message of the server from any response or stream. */
  #receive(message: McpMessage): void {
    const { server } = this.#parts;
    this.#messages += 1;
    const openMs = systemClock.now() - this.#openedAt;
    if (this.#messages > maxServerMessages + (openMs / 1_000) * moreMessagesPerSecond)
      this.fail(permanentError(server.name, `sent ${this.#messages} messages in ${Math.round(openMs / 1_000)} s without a response.`));
    else if (message.kind === 'response') this.#receiveResponse(message);
    else if (message.kind === 'notification') this.#receiveNotification(message.method, message.params);
    // 2026-07-28 has no requests of the server.
    else if (this.era === 'legacy') void this.#inbound.answer(message);
  }

  #receiveResponse(message: Extract<McpMessage, { kind: 'response' }>): void {
    const open = this.#settle(Number(message.id));
    // An unknown id or a second response: the caller keeps waiting.
    if (open === undefined) return;
    this.hasAnswered ||= !handshakes.has(open.method);
    if ('result' in message) open.resolve(message.result);
    else open.reject(toServerError(message.error));
  }

  #receiveNotification(method: string, params: Readonly<Params>): void {
    switch (method) {
      case 'notifications/progress': {
        const { progressToken, progress, total, message } = params;
        if (!this.#open.has(Number(progressToken)) || typeof progress !== 'number') return;
        this.idleTimeout.extend();
        const more = { ...(typeof total === 'number' && { total }), ...(typeof message === 'string' && { message }) };
        this.#parts.hooks.progress?.({ progress, ...more });
        return;
      }
      case 'notifications/subscriptions/acknowledged':
        for (const { acknowledged } of this.#open.values()) acknowledged?.();
        return;
      default:
        this.#inbound.notify({ method, params });
    }
  }
}

/** Returns the error with which a server of 2026-07-28 refuses the request in its response, if it is one: others come from proxies. */
function rpcErrorOf(error: unknown, id: number): ServerRpcError | null {
  const rpc = error instanceof HttpFault ? error.rpc : null;
  if (rpc?.id !== id || !(error instanceof HttpFault)) return null;
  // A 404 of another kind is that of a server without this revision.
  const isOfRequest = error.status === 400 || (error.status === 404 && rpc.error.rpc.code === rpcCodes.methodNotFound);
  return isOfRequest ? rpc.error : null;
}

/**
 * The first id of a connection. Unguessable, since calls of a conversation share a session, and one must not receive the response of another.
 * 48 bits: the sum with any count is still an exact number.
 */
function randomId(): number {
  // The last 12 hexadecimal digits are random (RFC 9562, version 4), and cheaper than new random values.
  return Number.parseInt(crypto.randomUUID().slice(24), 16);
}
