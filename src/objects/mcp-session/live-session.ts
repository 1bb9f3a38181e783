/**
 * An MCP session while its object is awake: the requests in flight and their streams. The stream on which the client listens is elsewhere
 * (`mcp/server/session-stream.ts`). After an eviction or a restart, requests that were interrupted then still get a response:
 * `outcome_unknown`, or the result of running them again where that is safe.
 */
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { readView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import type { Exchange, ServeDeps, SessionParts } from '../../mcp/server/exchange.ts';
import { notificationText, readMcpMessages, type RpcId, type McpMessage, type RpcRequest } from '../../mcp/server/messages.ts';
import { answerRequest } from '../../mcp/server/methods.ts';
import { newestSessionRevision, sessionRevision, sessionRevisions } from '../../mcp/server/revisions.ts';
import { refuse, RpcFault, rpcCodes, tooManyRequests } from '../../mcp/server/rpc-fault.ts';
import { eventsResponse, messageEvent, refusedHeaders, refusedRevision, refuseInSession } from '../../mcp/server/session-responses.ts';
import { accepted } from '../../mcp/server/stateless.ts';
import type { McpSessionAnswer, McpSessionRequest } from '../../ports/mcp-sessions.ts';
import { ClientRequests } from './client-requests.ts';
import { createEventStore, type McpSessionEvents } from './event-store.ts';
import { createPendingRequests, type PendingRequests } from './pending-requests.ts';
import { RequestStream, type StreamHost } from './request-stream.ts';

/** `capabilities`: the client's. */
export type SessionOwn = {
  deps: ServeDeps;
  id: string;
  target: ServeTarget;
  capabilities: Readonly<Record<string, unknown>>;
  /** The level that the client has set; null: none. */
  logLevel(): string | null;
  parts: SessionParts;
};

/** `callId`: of the tool call that was started for it. */
/** `space`: the files that the client named with the header `x-moniker-session`. */
type Running = { request: RpcRequest; space: string | undefined; stream: RequestStream; abort: AbortController; callId: string | null };

export class LiveSession {
  readonly #own: SessionOwn;
  readonly #events: McpSessionEvents;
  readonly #pending: PendingRequests;
  readonly #asked: ClientRequests;
  readonly #running = new Map<RpcId, Running>();
  readonly #streamHost: StreamHost;
  /** Streams that are read at present. */
  #readers = 0;
  /** Servers are notified before their next call. */
  #rootsChanges = 0;

  constructor(sql: SqlStorage, own: SessionOwn) {
    this.#own = own;
    this.#events = createEventStore(sql);
    this.#pending = createPendingRequests(sql);
    const { clock } = own.deps;
    this.#asked = new ClientRequests(clock);
    this.#streamHost = {
      ...{ clock, events: this.#events, session: own.id },
      onOpen: (stream) => this.#remember(stream),
      onAttached: (change) => {
        this.#readers += change;
      },
    };
  }

  /** True while a stream is open or a request is in flight. */
  get isBusy(): boolean {
    return this.#readers > 0 || this.#running.size > 0;
  }

  /** Handles `initialize`. */
  async begin({ headers, body }: McpSessionRequest, caller: Principal): Promise<Response> {
    const [message] = readMcpMessages(JSON.parse(body ?? 'null'));
    if (message?.kind !== 'request') throw new Error('a session begins with a request');
    const refused = refusedHeaders(new Headers(toPairs(headers)));
    if (refused !== null) return refused;
    const asked = String(message.params.protocolVersion);
    return toResponse(
      await this.#start([message], sessionRevisions.includes(asked) ? asked : newestSessionRevision, headers, caller),
      this.#own.id,
    );
  }

  async handle({ method, headers: pairs, body }: McpSessionRequest, caller: Principal): Promise<McpSessionAnswer> {
    const headers = new Headers(toPairs(pairs));
    if (method === 'GET') return refusedRevision(headers) ?? this.#resume(headers);
    if (method !== 'POST') return refusedRevision(headers) ?? new Response(null, { status: 200 });
    const refused = refusedHeaders(headers);
    if (refused !== null) return refused;
    const messages = readMcpMessages(JSON.parse(body ?? 'null'));
    const requests = messages.filter((message) => message.kind === 'request');
    const fault = this.#faultOf(requests);
    if (fault !== null) return fault;
    for (const message of messages) this.#take(message);
    if (requests.length === 0) return accepted();
    return await this.#start(requests, sessionRevision(headers.get('mcp-protocol-version')) ?? newestSessionRevision, pairs, caller);
  }

  /** Answers the requests that were interrupted with the previous object, each on the stream to which its client reconnects. */
  answerInterrupted(caller: Principal): void {
    const requests = this.#pending.list().flatMap(({ message, ...of }) => {
      const [request] = readMcpMessages(message);
      return request?.kind === 'request' ? [{ ...of, request }] : [];
    });
    // Those of a batch share a stream, which ends with the last of them.
    for (const [name, together] of Map.groupBy(requests, ({ stream }) => stream)) {
      const ids = together.map(({ request }) => request.id);
      const stream = new RequestStream(this.#streamHost, newestSessionRevision, ids, name);
      for (const { request, space, callId } of together) {
        const headers = new Headers(space === undefined ? {} : { 'x-moniker-session': space });
        this.#run(request, stream, headers, caller, callId === null ? undefined : { callId });
      }
    }
  }

  close(): void {
    const reason = new Error('the session has ended');
    for (const { stream, abort } of this.#running.values()) {
      abort.abort(reason);
      stream.close();
    }
    this.#running.clear();
  }

  #faultOf(requests: readonly RpcRequest[]): Response | null {
    if (requests.some(({ method }) => method === 'initialize')) return invalidRequest('Invalid Request: Server already initialized');
    const ids = new Set(requests.map(({ id }) => id));
    // A duplicate id would get its response on the other request's stream (JSON-RPC ids of a session "MUST NOT have been previously used").
    if (ids.size < requests.length || [...ids].some((id) => this.#running.has(id))) {
      return invalidRequest('Another request of this session with this id is still in flight. Use a unique id for each request.');
    }
    const isFull = this.#running.size + ids.size > limits.maxMcpRequestsInFlight || this.#readers >= limits.maxMcpSessionStreams;
    return isFull ? tooManyRequests() : null;
  }

  /** Takes what needs no answer. */
  #take(message: McpMessage): void {
    if (message.kind === 'response') this.#asked.take(message);
    else if (message.method === 'notifications/progress') this.#asked.progress(message.params);
    else if (message.method === 'notifications/roots/list_changed') this.#rootsChanges += 1;
    else if (message.method === 'notifications/cancelled') this.#cancel(message.params);
  }

  #cancel({ requestId, reason }: RpcRequest['params']): void {
    const running = this.#running.get(requestId as RpcId);
    if (running === undefined) return;
    running.abort.abort(new Error(typeof reason === 'string' ? reason : 'the client has cancelled the request'));
    this.#settle(requestId as RpcId, null);
  }

  async #start(requests: readonly RpcRequest[], revision: string, pairs: McpSessionRequest['headers'], caller: Principal) {
    const headers = new Headers(toPairs(pairs));
    const stream = new RequestStream(
      this.#streamHost,
      revision,
      requests.map(({ id }) => id),
    );
    for (const request of requests) this.#run(request, stream, headers, caller);
    if (stream.isOpen) this.#remember(stream);
    return await stream.answer;
  }

  #run(request: RpcRequest, stream: RequestStream, headers: Headers, caller: Principal, interrupted?: { callId: string }): void {
    const { deps, id: conversation, target, capabilities, logLevel, parts } = this.#own;
    const { id } = request;
    const abort = new AbortController();
    const { signal } = abort;
    const space = headers.get('x-moniker-session') ?? undefined;
    const running: Running = { request, space, stream, abort, callId: interrupted?.callId ?? null };
    this.#running.set(id, running);
    const send = (message: string): void => {
      if (this.#running.get(id) === running) stream.send(message);
    };
    const exchange: Exchange = {
      ...{ deps, era: 'session', principal: caller, target, conversation, headers, signal, capabilities, session: parts },
      viewOf: () => readView(deps, caller, target),
      logLevel: logLevel(),
      rootsChanges: this.#rootsChanges,
      notify: (method, params) => send(notificationText(method, params)),
      ask: (question) => this.#asked.ask(question, send, signal),
      ...(interrupted && { interrupted }),
      started: (callId) => {
        running.callId = callId;
        if (stream.isOpen) this.#pending.setCallId(id, callId);
      },
    };
    const answering = answerRequest(exchange, request);
    deps.background(answering.then(({ text }) => (this.#running.get(id) === running ? this.#settle(id, text) : undefined)));
  }

  /** `message`: the response; null: the request was cancelled. */
  #settle(id: RpcId, message: string | null): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    running.stream.settle(id, message);
    if (running.stream.isOpen) this.#pending.remove(id);
  }

  /** Its client can come back for the responses, also to a later object. */
  #remember(stream: RequestStream): void {
    for (const id of stream.waiting) {
      const running = this.#running.get(id);
      if (running !== undefined) this.#pending.add(running.request, { ...running, stream: stream.id });
    }
  }

  /** Continues the stream of a request after the last event that the client received. */
  #resume(headers: Headers): Response {
    const last = headers.get('last-event-id') ?? '';
    if (headers.get('accept')?.includes('text/event-stream') !== true)
      return refuseInSession(406, 'Not Acceptable: Client must accept text/event-stream');
    const name = this.#events.streamOf(last);
    if (name === null) return refuseInSession(400, 'Invalid event ID format');
    const open = [...this.#running.values()].find(({ stream }) => stream.id === name)?.stream;
    if (open?.isRead === true) return refuseInSession(409, 'Conflict: Stream already has an active connection');
    return eventsResponse(open === undefined ? this.#stored(last) : open.resume(last), this.#own.id);
  }

  /** The rest of a stream whose requests all have their responses. */
  #stored(after: string): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    const rest = this.#events.after(after)[Symbol.iterator]();
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        const next = rest.next();
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(messageEvent(next.value.id, next.value.message)));
      },
    });
  }
}

function toPairs(headers: McpSessionRequest['headers']): [string, string][] {
  return headers.map(([name, value]) => [name, value]);
}

function toResponse(answer: McpSessionAnswer, session: string): Response {
  return answer instanceof Response ? answer : eventsResponse(answer?.events ?? '', session);
}

function invalidRequest(message: string): Response {
  return refuse(new RpcFault(rpcCodes.invalidRequest, message, undefined, 400));
}
