/**
 * An MCP session while its object is awake: the SDK's server and transport, and the requests in flight. The stream on which the client
 * listens is elsewhere (`mcp/server/session-stream.ts`). Restored from storage after an eviction or a restart. Requests that were interrupted
 * then still get a response: `outcome_unknown`, or the result of running them again where that is safe.
 */
import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits/limits.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem } from '../../core/problem.ts';
import type { MarkStore } from '../../engine/policy/direct-marks.ts';
import { readServerInstructions } from '../../engine/mcp/serve-resources.ts';
import { readView, type ServeTarget } from '../../engine/mcp/serve-view.ts';
import { buildServer } from '../../mcp/server/build-server.ts';
import type { ServeDeps } from '../../mcp/server/serve-context.ts';
import { readSessionRequest, type SessionRequest } from '../../mcp/server/session-request.ts';
import { mcpRetryMs } from '../../mcp/server/session-responses.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { LinkStore } from '../../ports/link-store.ts';
import type { RememberedRules } from '../../ports/remembered-rules.ts';
import type { McpSessionAnswer, McpSessionRequest } from '../../ports/mcp-sessions.ts';
import { createEventStore, type McpSessionEvents } from './event-store.ts';
import { createPendingRequests, type PendingRequest, type PendingRequests } from './pending-requests.ts';
import {
  authInfoOf,
  cancelledIds,
  isResponse,
  isStream,
  onBodyEnd,
  principalOf,
  replayHeaders,
  requestsOf,
  duplicateIdResponse,
  tooManyRequestsResponse,
  toRequest,
} from './session-messages.ts';
import type { MetaStore } from './session-meta.ts';
import { SingleResponses } from './single-responses.ts';

export type SessionOwn = {
  deps: ServeDeps;
  id: string;
  target: ServeTarget;
  meta: MetaStore;
  marks: MarkStore;
  remembered: RememberedRules;
  files: FileSystem;
  links: LinkStore;
};

type SessionHost = SessionOwn & { events: McpSessionEvents; pending: PendingRequests };

export class LiveSession {
  readonly #host: SessionHost;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  /** Ids of requests without a response. Each maps to the ids of its message, which share one stream. */
  readonly #inFlight = new Map<unknown, readonly unknown[]>();
  /** The transport's own `send`, without the tracking of responses. */
  readonly #send: WebStandardStreamableHTTPServerTransport['send'];
  /** The server's own handler of messages. */
  #deliver: WebStandardStreamableHTTPServerTransport['onmessage'];
  /** Requests that were interrupted with the previous object and are answered by this one, by id. */
  readonly #interrupted = new Map<unknown, PendingRequest>();
  readonly #single: SingleResponses;
  #streams = 0;

  private constructor(host: SessionHost, server: Server, transport: WebStandardStreamableHTTPServerTransport) {
    this.#host = host;
    this.#server = server;
    this.#transport = transport;
    this.#send = transport.send.bind(transport);
    this.#single = new SingleResponses(host);
  }

  static async open(sql: SqlStorage, own: SessionOwn, caller: Principal): Promise<LiveSession> {
    const host = { ...own, events: createEventStore(sql), pending: createPendingRequests(sql) };
    const { deps, id, target, meta, marks, remembered, files, links } = host;
    const live: { session: LiveSession | null } = { session: null };
    const view = await readView(deps, caller, target);
    const server = buildServer(
      {
        deps,
        era: 'session',
        target,
        marks,
        remembered,
        files,
        links,
        conversation: id,
        principalOf: ({ http }) => principalOf(http?.authInfo),
        viewOf: (principal) => readView(deps, principal, target),
        subscriptions: {
          add(subscription) {
            if (!meta.subscribe(subscription))
              throw new Problem(
                'invalid_request',
                `A session can subscribe to at most ${limits.maxMcpSubscriptions} resources. Unsubscribe from one first.`,
              );
          },
          remove: (uri) => meta.unsubscribe(uri),
        },
        interruptedOf: ({ mcpReq }) => live.session?.interruption(mcpReq.id),
        started: ({ mcpReq }, callId) => live.session?.started(mcpReq.id, callId),
      },
      view,
      await readServerInstructions(deps, caller.workspace, view),
    );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: host.events,
      keepAliveMs: limits.heartbeatMs,
      retryInterval: mcpRetryMs,
    });
    const session = new LiveSession(host, server, transport);
    live.session = session;
    await server.connect(transport);
    session.#trackResponses();
    session.#wrapDelivery();
    return session;
  }

  /** True while a stream is open or a request is in flight. */
  get isBusy(): boolean {
    return this.#streams > 0 || this.#inFlight.size > 0;
  }

  /** Handles `initialize`. */
  async begin(request: McpSessionRequest, caller: Principal): Promise<Response> {
    const body: unknown = JSON.parse(request.body ?? 'null');
    return await this.#exchange(toRequest(request.method, request.headers), body, caller);
  }

  async handle({ method, headers }: McpSessionRequest, body: unknown, caller: Principal): Promise<McpSessionAnswer> {
    const ids = requestsOf(body).map(({ id }) => id);
    // A duplicate id would get its response on the other request's stream (JSON-RPC ids of a session "MUST NOT have been previously used").
    if (new Set(ids).size < ids.length || ids.some((id) => this.#inFlight.has(id))) return duplicateIdResponse();
    if (this.#inFlight.size + ids.length > limits.maxMcpRequestsInFlight || this.#streams >= limits.maxMcpSessionStreams)
      return tooManyRequestsResponse();
    const request = toRequest(method, headers);
    // Without `initialize` the transport refuses the request.
    const single = method !== 'POST' || this.#transport.sessionId === undefined ? null : readSessionRequest(request.headers, body);
    return single === null ? await this.#exchange(request, body, caller) : await this.#answerSingle(request, single, caller);
  }

  async #exchange(request: Request, body: unknown, caller: Principal): Promise<Response> {
    const ids = requestsOf(body).map(({ id }) => id);
    this.#take(body, ids);
    const response = await this.#pass(request, body, caller);
    // Refused before anything was started.
    if (response.status >= 400) for (const id of ids) this.#forget(id);
    else for (const id of cancelledIds(body)) await this.#cancel(id);
    return response.body === null || !isStream(response) ? response : this.#counted(response);
  }

  async #answerSingle(request: Request, single: SessionRequest, caller: Principal): Promise<McpSessionAnswer> {
    const { message } = single;
    this.#inFlight.set(message.id, [message.id]);
    const deliver = (): void => this.#deliver?.(message, { authInfo: authInfoOf(caller), request });
    const open = async (callId: string | null): Promise<Response> => {
      this.#host.pending.add(message.id, message);
      if (callId !== null) this.#host.pending.setCallId(message.id, callId);
      const response = await this.#pass(request, message, caller);
      return isStream(response) ? this.#counted(response) : response;
    };
    return await this.#single.answer(single, deliver, open);
  }

  /** Stores the requests before they are processed. */
  #take(body: unknown, ids: readonly unknown[]): void {
    for (const id of ids) this.#inFlight.set(id, ids);
    for (const message of requestsOf(body)) this.#host.pending.add(message.id, message);
  }

  #forget(id: unknown): void {
    this.#inFlight.delete(id);
    this.#interrupted.delete(id);
    this.#host.pending.remove(id);
  }

  /** Repeats the messages that the client sent before the object was evicted. */
  async replay(messages: readonly Record<string, unknown>[], caller: Principal): Promise<void> {
    const { events } = this.#host;
    events.muted = true;
    try {
      for (const message of messages) {
        await (await this.#pass(toRequest('POST', replayHeaders(this.#host.id)), message, caller)).text();
      }
    } finally {
      events.muted = false;
    }
  }

  /** Answers the requests that were interrupted with the previous object, each on the stream to which its client reconnects. */
  async answerInterrupted(caller: Principal): Promise<void> {
    for (const request of this.#host.pending.list()) {
      const { message, stream } = request;
      // It was interrupted before it had a stream, or it is `initialize`, which `replay` repeats.
      if (stream === '' || message.method === 'initialize') {
        this.#host.pending.remove(message.id);
        continue;
      }
      this.#interrupted.set(message.id, request);
      this.#inFlight.set(message.id, [message.id]);
      const response = await this.#pass(toRequest('POST', replayHeaders(this.#host.id)), message, caller);
      if (response.status >= 400) this.#forget(message.id);
      await response.body?.cancel();
    }
  }

  started(id: unknown, callId: string): void {
    if (!this.#single.setCallId(id, callId)) this.#host.pending.setCallId(id, callId);
  }

  /** Returns the call of an interrupted request; undefined for any other request, and for one whose tool was not called yet. */
  interruption(id: unknown): { callId: string } | undefined {
    const callId = this.#interrupted.get(id)?.callId ?? null;
    return callId === null ? undefined : { callId };
  }

  async close(): Promise<void> {
    this.#single.close();
    await this.#server.close();
  }

  async #pass(request: Request, body: unknown, caller: Principal): Promise<Response> {
    const options = { ...(body !== undefined && { parsedBody: body }), authInfo: authInfoOf(caller) };
    return await this.#transport.handleRequest(request, options);
  }

  #counted(response: Response): Response {
    this.#streams += 1;
    const body = onBodyEnd(response.body, () => {
      this.#streams -= 1;
    });
    return new Response(body, response);
  }

  /**
   * Only the transport knows on which stream a request is answered. Stores that stream for a later object, and redirects an interrupted
   * request to the stream of the earlier one. Each message passes here once its stream is known and before it is processed. A request that
   * was already started and gets a stream later is not started again.
   */
  #wrapDelivery(): void {
    const transport = this.#transport;
    // Private in the SDK, which has no public access to it. Without it the responses of interrupted requests are lost, nothing else.
    const streams: unknown = Reflect.get(transport, '_requestToStreamMapping');
    this.#deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      const id = 'method' in message && 'id' in message ? message.id : undefined;
      if (streams instanceof Map) this.#noteStream(streams, id);
      if (id === undefined || !this.#single.has(id)) this.#deliver?.(message, extra);
    };
  }

  #noteStream(streams: Map<unknown, unknown>, id: unknown): void {
    const stream = this.#interrupted.get(id)?.stream ?? streams.get(id);
    if (typeof stream !== 'string') return;
    streams.set(id, stream);
    this.#host.pending.setStream(id, stream);
  }

  /** Tracks responses by wrapping `send`, since the transport does not report them. */
  #trackResponses(): void {
    this.#transport.send = async (message, options) => {
      try {
        if (!(await this.#single.take(message, options?.relatedRequestId))) await this.#send(message, options);
      } finally {
        if (isResponse(message)) this.#settle(message.id);
      }
    };
  }

  async #cancel(id: unknown): Promise<void> {
    await this.#single.opened(id);
    this.#settle(id);
  }

  /**
   * Removes a request that was answered or cancelled. After the last request of its message the stream is closed. The transport only
   * counts responses, so a cancelled request gets an empty one that is not sent.
   */
  #settle(id: unknown): void {
    if (this.#single.end(id)) return void this.#inFlight.delete(id);
    const together = this.#inFlight.get(id);
    this.#forget(id);
    if (together === undefined || together.some((other) => this.#inFlight.has(other))) return;
    const { events } = this.#host;
    for (const over of together as (string | number)[]) {
      this.#transport.closeSSEStream(over);
      events.muted = true;
      this.#send({ jsonrpc: '2.0', id: over, result: {} }).catch(() => {
        // The transport no longer has the request, so there is nothing to do.
      });
      events.muted = false;
    }
  }
}
