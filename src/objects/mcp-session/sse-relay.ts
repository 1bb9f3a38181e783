/**
 * The `SseRelay` Durable Object: the connection of one client that only knows HTTP+SSE (revision 2024-11-05). It holds the stream, passes each
 * message on as a request of Streamable HTTP, and writes the answers to the stream: sessions, calls and limits are those of `/mcp`. Everything is
 * in memory. A client that reconnects soon gets the events that it missed; after a restart of the service it continues its session without
 * them.
 */
import { DurableObject } from 'cloudflare:workers';
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import { limits } from '../../core/limits/limits.ts';
import { MB } from '../../core/limits/units.ts';
import type { Principal } from '../../core/people/principal.ts';
import { Problem, toOutcome, type Outcome } from '../../core/problem.ts';
import { encodeFrame, heartbeatFrame } from '../../dialects/native.ts';
import { readView, type ViewDeps } from '../../engine/mcp/serve-view.ts';
import type { McpAnswer, McpRequest } from '../../mcp/server/endpoint.ts';
import { isEventStream, SseParser, type SseMessage } from '../../net/sse.ts';
import type { McpSessions } from '../../ports/mcp-sessions.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { sseEventId, type SseConnection, type SseSending, type SseStart } from '../../ports/sse-relays.ts';
import type { Bindings } from '../../storage/bindings.ts';
import { wire } from '../../wiring/wire.ts';
import type { SseOpening, SseRelayRpc } from './client/sse-relay-client.ts';

/** Messages of one client in flight. */
const maxInFlight = 64;
/** Of the events that wait for a slow client; a result has up to 16 MB. Beyond, the stream ends. */
const maxWaitingBytes = 48 * MB;
/** Of the events for a client that reconnects. */
const maxReplayCharacters = 4 * MB;
/** The session of a client that left is ended after this time, unless the client reconnects. */
const returnMs = 2 * 60_000;
/** A stream on which the client sends nothing and waits for nothing ends; the client reconnects when it is still there. */
const idleEndMs = 30 * 60_000;
const relistenMs = 1_000;

interface RelayNeeds {
  clock: Clock;
  log: Logger;
  mcp(request: McpRequest): Promise<McpAnswer>;
  mcpSessions: Pick<McpSessions, 'listen'>;
  serve: ViewDeps;
}

type Stream = { controller: ReadableStreamDefaultController<Uint8Array>; end: AbortController };
/** `text`: the frame as it was sent. */
type SentEvent = { number: number; text: string };

export class SseRelay extends DurableObject<Bindings> implements SseRelayRpc {
  readonly #wiring: RelayNeeds;
  readonly #encoder = new TextEncoder();
  #stream: Stream | null = null;
  #session: string | null = null;
  #sent: SentEvent[] = [];
  #sentCharacters = 0;
  #number = 0;
  #inFlight = 0;
  #usedAt = 0;
  /** Aborts with the connection, not with its stream. Null: there is none. */
  #open: AbortController | null = null;
  #isListening = false;

  constructor(ctx: DurableObjectState, env: Bindings) {
    super(ctx, env);
    this.#wiring = wire(env);
  }

  /** Opens the stream. The request is of `sse-relay-client.ts`. */
  override async fetch(request: Request): Promise<Response> {
    const { connection, start } = await request.json<SseOpening>();
    const opened = await toOutcome(async () => await this.#start(connection, start));
    return opened.ok ? opened.value : Response.json(opened, { status: 500 });
  }

  send({ caller, target, id }: SseConnection, sending: SseSending): Promise<Outcome<void>> {
    return toOutcome(() => {
      if (this.#stream === null) throw new Problem('not_found', 'This connection has no open stream. Connect again.');
      if (this.#inFlight >= maxInFlight)
        throw new Problem('rate_limited', `${maxInFlight} messages of this connection are in flight.`, { retryAfterMs: 1_000 });
      this.ctx.waitUntil(this.#forward({ caller, target, id }, sending));
    });
  }

  async #start(connection: SseConnection, { endpoint, after, session }: SseStart): Promise<Response> {
    const { caller, target } = connection;
    await readView(this.#wiring.serve, caller, target);
    // A restart has forgotten the connection.
    this.#session ??= session;
    if (this.#session !== null) {
      const known = await this.#wiring.mcpSessions.listen(caller, target, this.#session, { stream: '', mode: 'check' });
      if (known === null)
        throw new Problem('not_found', 'The session of this connection has ended. Connect again, and initialize a new one.');
    }
    this.#number = Math.max(this.#number, after ?? 0);
    this.#endStream();
    this.#open ??= new AbortController();
    this.#usedAt = this.#wiring.clock.now();
    const body = this.#openStream(connection);
    this.#write(encodeFrame({ id: this.#idOf(connection, this.#number), event: 'endpoint', data: endpoint }));
    for (const { number, text } of this.#sent) if (after !== null && number > after) this.#write(text);
    if (this.#session !== null) this.#listen(connection);
    return new Response(body, { headers: streamHeaders });
  }

  #openStream(connection: SseConnection): ReadableStream<Uint8Array> {
    const { clock } = this.#wiring;
    const end = new AbortController();
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: maxWaitingBytes });
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#stream = { controller, end };
        },
        cancel: () => {
          if (this.#stream?.end === end) this.#endStream();
        },
      },
      strategy,
    );
    const beat = async (): Promise<void> => {
      while (!end.signal.aborted) {
        await clock.sleep(limits.heartbeatMs, end.signal).catch(() => {
          // The stream has ended.
        });
        const isIdle = this.#inFlight === 0 && clock.now() - this.#usedAt >= idleEndMs;
        if (end.signal.aborted) break;
        if (isIdle) this.#endStream();
        else this.#write(heartbeatFrame);
      }
      await this.#awaitReturn(connection);
    };
    this.ctx.waitUntil(beat());
    return body;
  }

  /** Ends the session unless the client reconnects. */
  async #awaitReturn({ caller, target }: SseConnection): Promise<void> {
    const { clock, log } = this.#wiring;
    const open = this.#open;
    await clock.sleep(returnMs);
    if (this.#stream !== null || open === null || this.#open !== open) return;
    open.abort(new Error('the client has not reconnected'));
    const session = this.#session;
    [this.#open, this.#session, this.#sent, this.#sentCharacters] = [null, null, [], 0];
    if (session === null) return;
    const request = toRequest('DELETE', { 'mcp-session-id': session });
    await this.#wiring.mcp({ principal: caller, target, request, text: '', body: null }).catch((error: unknown) => {
      // It then ends by itself, a day after its last request.
      log.debug('the session of a connection could not be ended', { cause: String(error) });
    });
  }

  async #forward({ caller, target, id }: SseConnection, { text, revision }: SseSending): Promise<void> {
    const connection = { caller, target, id };
    const body = tryParse(text);
    const waiting = new Set([body].flat().flatMap(requestId));
    this.#inFlight += 1;
    this.#usedAt = this.#wiring.clock.now();
    try {
      const response = await this.#serve(caller, target, 'POST', { revision, text, body });
      this.#session ??= response.headers.get('mcp-session-id');
      if (isInitialized(body)) this.#listen(connection);
      await this.#passOn(connection, response, waiting);
      if (waiting.size > 0) this.#fail(connection, waiting, 'The server ended its answer without a response.');
      if (response.status === 404 && this.#session !== null) this.#forget();
    } catch (error) {
      if (!(error instanceof Problem)) this.#wiring.log.error('a message of an SSE client failed', { cause: String(error) });
      this.#fail(connection, waiting, error instanceof Problem ? error.detail : 'Internal error. The log has the cause.');
    } finally {
      this.#inFlight -= 1;
      this.#usedAt = this.#wiring.clock.now();
    }
  }

  /** Writes the messages of a response to the stream. `waiting`: the requests without an answer, of which those that got one are removed. */
  async #passOn(connection: SseConnection, response: Response, waiting: Set<string | number>): Promise<void> {
    if (isEventStream(response)) {
      for await (const { data } of messagesOf(response)) if (data !== '') this.#pass(connection, data, waiting);
      return;
    }
    const text = await response.text();
    if (text === '') return;
    const message = tryParse(text);
    // A refused request has no id of its own in the response.
    const answers = !response.ok && isRecord(message) && message.id == null ? [...waiting].map((id) => ({ ...message, id })) : [text];
    for (const answer of answers) this.#pass(connection, typeof answer === 'string' ? answer : JSON.stringify(answer), waiting);
  }

  #pass(connection: SseConnection, data: string, waiting: Set<string | number>): void {
    if (waiting.size > 0) {
      const { id, result, error } = parts(data);
      if ((result !== undefined || error !== undefined) && id !== undefined) waiting.delete(id);
    }
    this.#emit(connection, data);
  }

  #fail(connection: SseConnection, waiting: ReadonlySet<string | number>, message: string): void {
    for (const id of waiting) this.#emit(connection, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_000, message } }));
  }

  /** Passes on what the session sends by itself, until the connection ends. */
  #listen(connection: SseConnection): void {
    const open = this.#open;
    if (this.#isListening || open === null) return;
    this.#isListening = true;
    const { caller, target } = connection;
    const { clock, log } = this.#wiring;
    const run = async (): Promise<void> => {
      let last: string | null = null;
      while (!open.signal.aborted && this.#session !== null) {
        try {
          const response = await this.#serve(caller, target, 'GET', { revision: null, last, signal: open.signal });
          if (!response.ok) log.debug('an SSE client cannot listen', { status: response.status });
          else
            for await (const { data, id } of messagesOf(response)) {
              last = id ?? last;
              if (data !== '') this.#emit(connection, data);
            }
        } catch (error) {
          log.debug('the listening stream of an SSE client broke off', { cause: String(error) });
        }
        await clock.sleep(relistenMs, open.signal).catch(() => {
          // The connection has ended.
        });
      }
      this.#isListening = false;
    };
    this.ctx.waitUntil(run());
  }

  async #serve(
    principal: Principal,
    target: string | null,
    method: 'GET' | 'POST',
    { revision, text = '', body = null, last = null, signal }: Served,
  ): Promise<Response> {
    const headers = {
      accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
      ...(method === 'POST' && { 'content-type': 'application/json' }),
      ...(this.#session !== null && { 'mcp-session-id': this.#session }),
      ...(revision !== null && { 'mcp-protocol-version': revision }),
      ...(last !== null && { 'last-event-id': last }),
    };
    const { response } = await this.#wiring.mcp({ principal, target, request: toRequest(method, headers, signal), text, body });
    return response;
  }

  #emit(connection: SseConnection, data: string): void {
    this.#number += 1;
    const text = encodeFrame({ id: this.#idOf(connection, this.#number), event: 'message', data });
    this.#sent.push({ number: this.#number, text });
    this.#sentCharacters += text.length;
    while (this.#sentCharacters > maxReplayCharacters && this.#sent.length > 1)
      this.#sentCharacters -= this.#sent.shift()?.text.length ?? 0;
    this.#write(text);
  }

  #idOf({ id }: SseConnection, number: number): string {
    return sseEventId(id, number, this.#session);
  }

  #write(text: string): void {
    if (this.#stream === null) return;
    const { controller } = this.#stream;
    controller.enqueue(this.#encoder.encode(text));
    if ((controller.desiredSize ?? 0) >= 0) return;
    this.#wiring.log.info('the stream of an SSE client was ended: the client does not read it', { bytes: maxWaitingBytes });
    this.#endStream();
  }

  #endStream(): void {
    if (this.#stream === null) return;
    const { controller, end } = this.#stream;
    this.#stream = null;
    end.abort(new Error('the stream has ended'));
    try {
      controller.close();
    } catch {
      // The client has cancelled it.
    }
  }

  /** The session has ended: the client has to initialize a new one, on a new connection. */
  #forget(): void {
    this.#open?.abort(new Error('the session has ended'));
    [this.#open, this.#session, this.#sent, this.#sentCharacters] = [null, null, [], 0];
    this.#endStream();
  }
}

type Served = { revision: string | null; text?: string; body?: unknown; last?: string | null; signal?: AbortSignal };

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };

/** The body is passed beside it. */
function toRequest(method: string, headers: Record<string, string>, signal?: AbortSignal): Request {
  return new Request('https://relay.invalid/mcp', { method, headers, ...(signal && { signal }) });
}

async function* messagesOf(response: Response): AsyncGenerator<SseMessage, void, undefined> {
  const parser = new SseParser(limits.maxToolReplyBytes + MB);
  for await (const bytes of response.body ?? []) yield* parser.push(bytes);
}

function requestId(message: unknown): (string | number)[] {
  if (!isRecord(message) || typeof message.method !== 'string') return [];
  return typeof message.id === 'string' || typeof message.id === 'number' ? [message.id] : [];
}

function isInitialized(body: unknown): boolean {
  return [body].flat().some((message) => isRecord(message) && message.method === 'notifications/initialized');
}

function parts(data: string): { id?: string | number; result?: unknown; error?: unknown } {
  const message = tryParse(data);
  // Only compared and looked at.
  return isRecord(message) ? (message as { id?: string | number }) : {};
}
