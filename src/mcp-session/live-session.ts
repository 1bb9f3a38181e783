/**
 * An MCP session while its object is awake: the SDK's server and transport, what is under way, and the watch over changes while the client has
 * its stream open. Put together from what is stored, so that it goes on after an eviction or a restart; what was under way then is answered
 * all the same: with `outcome_unknown`, or by doing it again where that does no harm.
 */
import { type AuthInfo, type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { limits } from '../core/limits.ts';
import type { Principal } from '../core/principal.ts';
import { Problem } from '../core/problem.ts';
import type { MarkStore } from '../engine/policy/direct-marks.ts';
import { readView, type ServeTarget } from '../engine/serve/serve-view.ts';
import { viewMark, watchServed, type Change } from '../engine/serve/serve-watch.ts';
import { buildServer } from '../mcp/server/build-server.ts';
import type { ServeDeps } from '../mcp/server/serving.ts';
import type { McpSessionRequest } from '../ports/mcp-sessions.ts';
import type { SessionEvents } from './event-store.ts';
import type { PendingRequest, PendingRequests } from './pending-requests.ts';
import { cancelledIds, isAnswer, isStream, ownHeaders, requestIds, requestsOf, sameId, tooMany } from './session-messages.ts';
import { watchedBody } from './watched-body.ts';

export type SessionHost = {
  deps: ServeDeps;
  id: string;
  target: ServeTarget;
  events: SessionEvents;
  pending: PendingRequests;
  subscriptions: { list(): string[]; add(uri: string): boolean; remove(uri: string): void };
  marks: MarkStore;
};

/** `stream`: the response that changes are told on. */
type Watch = { end: AbortController; caller: Principal; stream: object };

export class LiveSession {
  readonly #host: SessionHost;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  /** Ids of requests without an answer, each with all that came in one message with it, and are answered on its stream. */
  readonly #underWay = new Map<unknown, readonly unknown[]>();
  /** Past the counting of answers. */
  readonly #send: WebStandardStreamableHTTPServerTransport['send'];
  /** By their ids: requests that died with the object before, and are answered by this one. */
  readonly #lost = new Map<unknown, PendingRequest>();
  #streams = 0;
  /** Of the stream that the client listens on. */
  #watch: Watch | null = null;
  #mark: string | null = null;

  private constructor(host: SessionHost, server: Server, transport: WebStandardStreamableHTTPServerTransport) {
    this.#host = host;
    this.#server = server;
    this.#transport = transport;
    this.#send = transport.send.bind(transport);
  }

  static async open(host: SessionHost, caller: Principal): Promise<LiveSession> {
    const { deps, id, target, subscriptions, marks } = host;
    const live: { session: LiveSession | null } = { session: null };
    const view = await readView(deps, caller, target);
    const server = buildServer(
      {
        deps,
        era: 'session',
        target,
        marks,
        conversation: id,
        principalOf: ({ http }) => principalOf(http?.authInfo),
        viewOf: (principal) => readView(deps, principal, target),
        subscriptions: {
          add(uri) {
            if (!subscriptions.add(uri))
              throw new Problem('invalid_request', `A session hears of at most ${limits.maxMcpSubscriptions} resources.`);
            live.session?.watchAnew();
          },
          remove: (uri) => subscriptions.remove(uri),
        },
        interruptedOf: ({ mcpReq }) => live.session?.interruption(mcpReq.id),
        started: ({ mcpReq }, callId) => host.pending.started(mcpReq.id, callId),
        called: (principal) => live.session?.lookAgain(principal),
      },
      view,
    );
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      eventStore: host.events,
      keepAliveMs: limits.heartbeatMs,
      retryInterval: limits.mcpRetryMs,
    });
    const session = new LiveSession(host, server, transport);
    live.session = session;
    session.#mark = viewMark(view);
    await server.connect(transport);
    session.#countAnswers();
    session.#redirectLost();
    return session;
  }

  /** True while somebody has a stream open or waits for an answer. */
  get isBusy(): boolean {
    return this.#streams > 0 || this.#underWay.size > 0;
  }

  async handle(request: McpSessionRequest, caller: Principal): Promise<Response> {
    const body: unknown = request.body === null ? undefined : JSON.parse(request.body);
    const ids = requestIds(body);
    // By its id it would be answered on the other one's stream (JSON-RPC ids of a session: "MUST NOT have been previously used").
    if (new Set(ids).size < ids.length || ids.some((id) => this.#underWay.has(id))) return sameId();
    if (this.#underWay.size + ids.length > limits.maxMcpRequestsInFlight || this.#streams >= limits.maxMcpSessionStreams) return tooMany();
    this.#take(body, ids);
    const response = await this.#pass(request, body, caller);
    // Refused before anything was begun.
    if (response.status >= 400) for (const id of ids) this.#forget(id);
    else for (const id of cancelledIds(body)) this.#settle(id);
    if (response.body === null || !isStream(response)) return response;
    return this.#counted(response, (await this.#isListening(request)) ? caller : null);
  }

  /** Before anything comes of it. */
  #take(body: unknown, ids: readonly unknown[]): void {
    for (const id of ids) this.#underWay.set(id, ids);
    for (const message of requestsOf(body)) this.#host.pending.add(message.id, message);
  }

  #forget(id: unknown): void {
    this.#underWay.delete(id);
    this.#lost.delete(id);
    this.#host.pending.remove(id);
  }

  /** Also again after a cut. A client that comes back for the answer of one request listens to nothing else. */
  async #isListening({ method, headers }: McpSessionRequest): Promise<boolean> {
    if (method !== 'GET') return false;
    const last = headers.find(([name]) => name === 'last-event-id')?.[1];
    return last === undefined || (await this.#host.events.getStreamIdForEventId?.(last)) === ownStream;
  }

  /** Says again what was said before the object slept. */
  async replay(messages: readonly Record<string, unknown>[], caller: Principal): Promise<void> {
    const { events } = this.#host;
    events.muted = true;
    try {
      for (const message of messages) {
        await (await this.#pass({ method: 'POST', headers: ownHeaders(this.#host.id), body: null }, message, caller)).text();
      }
    } finally {
      events.muted = false;
    }
  }

  /** What was under way when the object before died, each on the stream that its client comes back to. */
  async answerLost(caller: Principal): Promise<void> {
    for (const request of this.#host.pending.list()) {
      const { message, stream } = request;
      // It died before it was on its way, and is on nobody's stream; or it was the first of all, which is said again already.
      if (stream === '' || message.method === 'initialize') {
        this.#host.pending.remove(message.id);
        continue;
      }
      this.#lost.set(message.id, request);
      this.#underWay.set(message.id, [message.id]);
      const response = await this.#pass({ method: 'POST', headers: ownHeaders(this.#host.id), body: null }, message, caller);
      if (response.status >= 400) this.#forget(message.id);
      await response.body?.cancel();
    }
  }

  /** undefined: the request is none that died, or had not begun to do anything. */
  interruption(id: unknown): { callId: string } | undefined {
    const callId = this.#lost.get(id)?.callId ?? null;
    return callId === null ? undefined : { callId };
  }

  async close(): Promise<void> {
    this.#watch?.end.abort(new Error('the session is over'));
    await this.#server.close();
  }

  /** With the resources that are subscribed to by now. */
  watchAnew(): void {
    if (this.#watch === null) return;
    const { caller, stream } = this.#watch;
    this.#beginWatch(caller, stream);
  }

  /** A call may have equipped another toolset: whoever listens hears of it at once. */
  lookAgain(caller: Principal): void {
    if (this.#host.target !== null) return;
    const look = async (): Promise<void> => {
      const mark = viewMark(await readView(this.#host.deps, caller, this.#host.target));
      if (mark === this.#mark) return;
      this.#mark = mark;
      this.#tell({ kind: 'tools' });
    };
    look().catch((error: unknown) => this.#host.deps.log.debug('what is equipped could not be looked at', { cause: String(error) }));
  }

  async #pass({ method, headers }: McpSessionRequest, body: unknown, caller: Principal): Promise<Response> {
    // The SDK reads method and headers of it; where it came to says nothing in here.
    const request = new Request('https://session.invalid/mcp', { method, headers: headers.map(([name, value]) => [name, value]) });
    return await this.#transport.handleRequest(request, { ...(body !== undefined && { parsedBody: body }), authInfo: authInfoOf(caller) });
  }

  /** `listener`: whose own stream it is, which hears of changes. */
  #counted(response: Response, listener: Principal | null): Response {
    this.#streams += 1;
    const stream = {};
    if (listener !== null) this.#beginWatch(listener, stream);
    const body = watchedBody(response.body, () => {
      this.#streams -= 1;
      // A later one may have begun meanwhile.
      if (this.#watch?.stream !== stream) return;
      this.#watch.end.abort(new Error('nobody listens any more'));
      this.#watch = null;
    });
    return new Response(body, response);
  }

  #beginWatch(caller: Principal, stream: object): void {
    const before = this.#watch;
    const end = new AbortController();
    const watch: Watch = { end, caller, stream };
    this.#watch = watch;
    before?.end.abort(new Error('something else is listened to'));
    const { deps, target, id, subscriptions } = this.#host;
    const run = async (): Promise<void> => {
      const view = await readView(deps, caller, target);
      const watched = { principal: caller, target, view, conversation: id, lists: true, uris: () => subscriptions.list() };
      await watchServed(deps, watched, (change) => this.#tell(change), end.signal);
    };
    run()
      .catch((error: unknown) => deps.log.debug('a session hears of no changes', { cause: String(error) }))
      .finally(() => {
        // Its time is over: the client comes back with the last event that it saw.
        if (this.#watch === watch) this.#transport.closeStandaloneSSEStream();
      });
  }

  #tell(change: Change): void {
    const { subscriptions, deps } = this.#host;
    if (change.kind === 'resource' && !subscriptions.list().includes(change.uri)) return;
    notifyOf(this.#server, change).catch((error: unknown) => deps.log.debug('an MCP client could not be told', { cause: String(error) }));
  }

  /**
   * Which stream a request is answered on is the transport's own knowledge: noted for the next object, and for what died with the one before
   * put to the stream of then. Each message passes here after its stream is known and before anything comes of it.
   */
  #redirectLost(): void {
    const transport = this.#transport;
    const deliver = transport.onmessage;
    // Private in the SDK, which has no other word for it; without it the answer of a request that died is lost, and nothing else.
    const streams: unknown = Reflect.get(transport, '_requestToStreamMapping');
    if (!(streams instanceof Map)) return;
    transport.onmessage = (message, extra) => {
      const id = 'method' in message && 'id' in message ? message.id : undefined;
      const stream: unknown = this.#lost.get(id)?.stream ?? streams.get(id);
      if (typeof stream === 'string') {
        streams.set(id, stream);
        this.#host.pending.awaitedOn(id, stream);
      }
      deliver?.(message, extra);
    };
  }

  /** The transport tells nobody when it has answered. */
  #countAnswers(): void {
    this.#transport.send = async (message, options) => {
      try {
        await this.#send(message, options);
      } finally {
        if (isAnswer(message)) this.#settle(message.id);
      }
    };
  }

  /**
   * Answered, or cancelled, which is not answered: with the last one of its message the stream is over. The transport knows of answers only, so it
   * is told of one that nobody hears.
   */
  #settle(id: unknown): void {
    const together = this.#underWay.get(id);
    this.#forget(id);
    if (together === undefined || together.some((other) => this.#underWay.has(other))) return;
    const { events } = this.#host;
    for (const over of together as (string | number)[]) {
      this.#transport.closeSSEStream(over);
      events.muted = true;
      this.#send({ jsonrpc: '2.0', id: over, result: {} }).catch(() => {
        // It had forgotten it already.
      });
      events.muted = false;
    }
  }
}

/** The SDK's name of the stream that is not one request's. */
const ownStream = '_GET_stream';

async function notifyOf(server: Server, change: Change): Promise<void> {
  switch (change.kind) {
    case 'tools':
      return await server.sendToolListChanged();
    case 'prompts':
      return await (server.getCapabilities().prompts === undefined ? undefined : server.sendPromptListChanged());
    case 'resources':
      return await (server.getCapabilities().resources === undefined ? undefined : server.sendResourceListChanged());
    case 'resource':
      return await server.sendResourceUpdated({ uri: change.uri });
    default:
      return change satisfies never;
  }
}

/** The key was checked before; here it only says who asks. */
function authInfoOf(principal: Principal): AuthInfo {
  return { token: '', clientId: principal.keyId, scopes: [...principal.scopes], extra: { principal } };
}

function principalOf(authInfo: AuthInfo | undefined): Principal {
  const principal = authInfo?.extra?.principal;
  if (principal === undefined) throw new Error('a request without a principal came to a session');
  // Put there by `authInfoOf`, and nowhere else.
  return principal as Principal;
}
