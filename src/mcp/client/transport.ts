/**
 * Carries JSON-RPC messages to one MCP server and back: Streamable HTTP of all revisions, where a request has its own response or stream,
 * and HTTP+SSE (2024-11-05), where one stream brings all responses. What arrives is bounded, after decompression. What the messages mean
 * is decided in `connection.ts`.
 */
import { backoffMs, delayOrAsked } from '../../core/limits/backoff.ts';
import { KB } from '../../core/limits/units.ts';
import { isRecord, recordOf, tryParse } from '../../core/json/wire-value.ts';
import type { Problem } from '../../core/problem.ts';
import { withTimeout } from '../../engine/timeout.ts';
import { readBounded } from '../../net/read-bounded.ts';
import { isEventStream, type SseMessage, SseParser } from '../../net/sse.ts';
import { systemClock } from '../../platform/clock.ts';
import { readMcpMessages, type McpMessage } from '../server/messages.ts';
import { RpcFault } from '../server/rpc-fault.ts';
import type { Endpoint } from './endpoint.ts';
import {
  HttpFault,
  permanentError,
  ResponseTooLarge,
  responseTooLarge,
  serverMessage,
  toServerError,
  upstreamError,
} from './upstream-fault.ts';

/** Retries of an interrupted event stream, with increasing waits, whatever the server requests. */
export const maxStreamResumptions = 3;
const resumptionBackoff = { firstMs: 1_000, factor: 4, maxMs: 10_000 };
/** The first event of an HTTP+SSE stream. */
const endpointTimeoutMs = 10_000;
/** Wait for the stream on which a server sends its own requests; then a call that may need it is sent without it. */
const serverStreamWaitMs = 1_000;
/** Of a response that only says what is wrong. */
const maxFaultBytes = 64 * KB;

export type TransportParts = {
  /** Its name in the workspace. */
  server: string;
  endpoint: Endpoint;
  isSse: boolean;
  /** Bytes that may still arrive, for one response or for all responses together. */
  budget(): { left: number };
  receive(message: McpMessage): void;
  /** Reports a fault that ends all requests. */
  fail(problem: Problem): void;
};

/**
 * `isWaiting`: whether the response to a request is still missing; absent for messages without one. `startsSession`: the response has the id
 * of a new session. `hasResumption`: a stream that ends before the response may be resumed.
 */
export type PostOptions = { headers?: Record<string, string>; isWaiting?: () => boolean; startsSession?: boolean; hasResumption?: boolean };

/** `lastId`: of an event, with which the stream can be resumed. `fault`: the stream broke off. */
type StreamEnd = { lastId: string | undefined; retryMs: number | undefined; fault: Problem | null };

export class Transport {
  readonly isSse: boolean;
  /** Sent with each request once they are known. */
  readonly session: { id: string; version: string } = { id: '', version: '' };
  /** An SSE server has named the endpoint for messages. */
  isStarted = false;
  readonly #parts: TransportParts;
  readonly #closing = new AbortController();
  #messages: URL | undefined;
  /** Requests whose response was not read to its end as JSON. */
  #unfinished = 0;
  #resumptions = 0;
  /** The last event of the stream on which the server sends messages by itself. */
  #heardId: string | undefined;
  /** Events without an MCP message, which are skipped. */
  #unread = 0;

  constructor(parts: TransportParts) {
    this.#parts = parts;
    this.isSse = parts.isSse;
  }

  /** Aborts when the transport is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends all requests and streams. After a plain call there is none, and an abort would cost as much as the call's parsing. */
  close(): void {
    if (this.#unfinished > 0) this.#closing.abort(new Error('the connection is closed'));
  }

  /** Opens the stream of HTTP+SSE, and waits for its endpoint. */
  async start(): Promise<void> {
    const { server, endpoint, fail } = this.#parts;
    const response = await this.#get({});
    if (!response.ok || !isEventStream(response)) throw await toHttpFault(response, 'stream');
    const named = Promise.withResolvers<string>();
    const ended = this.#readEvents(response, (event) => {
      if (event.event === 'endpoint') named.resolve(event.data);
      else this.#take(event);
    });
    const fault = (): Problem =>
      this.isStarted ? this.#withoutResponse() : upstreamError(server, noStream, undefined, { retryable: true });
    // A new stream would be a new session, without the responses of this one.
    void ended.then((end) => {
      const problem = end.fault ?? fault();
      named.reject(problem);
      fail(problem);
    });
    const late = (): never => {
      throw permanentError(server, 'opened an event stream without the event `endpoint`, which HTTP+SSE requires.');
    };
    const data = await withTimeout(systemClock, named.promise, endpointTimeoutMs, late);
    const url = URL.parse(data, endpoint.url);
    if (url?.origin !== endpoint.url.origin) throw permanentError(server, 'named an endpoint of another origin (HTTP+SSE).');
    this.#messages = url;
    this.isStarted = true;
  }

  /** Sends one message, and resolves when all messages that the server responds with were received. */
  async post(text: string, { headers = {}, isWaiting, startsSession = false, hasResumption = false }: PostOptions = {}): Promise<void> {
    const { server } = this.#parts;
    const response = await this.#send(
      'POST',
      { ...headers, 'content-type': 'application/json' },
      'application/json, text/event-stream',
      text,
    );
    const { status } = response;
    if (!response.ok) throw await toHttpFault(response, this.isSse ? 'message' : 'endpoint');
    if (startsSession) this.session.id = response.headers.get('mcp-session-id') ?? '';
    if (isWaiting === undefined || this.isSse) return await response.body?.cancel();
    if (isEventStream(response)) return await this.#follow(response, isWaiting, hasResumption);
    const type = response.headers.get('content-type');
    // Only messages without a response are accepted with 202 (2025-11-25, "Sending Messages").
    if (status !== 202 && isJson(type)) return this.#receiveJson(await this.#readText(response));
    await response.body?.cancel();
    if (status === 202) throw permanentError(server, 'responded 202 without content to a request that requires a response.');
    const todo = 'Check that its `url` is that of its MCP endpoint, and whether it requires a login.';
    throw permanentError(
      server,
      `responded with ${type === null ? 'no content type' : serverMessage(type)} instead of JSON or an event stream. ${todo}`,
    );
  }

  /**
   * Opens the stream for messages that the server starts by itself (2025 revisions), after those of an earlier stream, and resolves when it is
   * open. `onEnd`: the stream has ended, or the server offers none.
   */
  async openServerStream(onEnd: () => void): Promise<void> {
    // Its only stream is open, and the connection fails when it ends.
    if (this.isSse) return;
    const opened = Promise.withResolvers<void>();
    const run = async (): Promise<void> => {
      const response = await this.#get(this.#heardId === undefined ? {} : { 'last-event-id': this.#heardId });
      opened.resolve();
      if (!response.ok) return await response.body?.cancel();
      const { fault, lastId } = await this.#readEvents(response, (event) => this.#take(event));
      this.#heardId = lastId ?? this.#heardId;
      if (fault instanceof ResponseTooLarge) this.#parts.fail(fault);
    };
    run()
      .catch(() => {
        // Requests can be answered without this stream.
      })
      .finally(() => {
        opened.resolve();
        onEnd();
      });
    // Some servers send no headers until they have a message.
    await withTimeout(systemClock, opened.promise, serverStreamWaitMs, () => undefined);
  }

  async endSession(): Promise<void> {
    if (this.session.id !== '') await (await this.#send('DELETE', {}, '*/*', null)).body?.cancel();
  }

  async #get(headers: Record<string, string>): Promise<Response> {
    return await this.#send('GET', headers, 'text/event-stream', null);
  }

  async #send(method: string, given: Record<string, string>, accept: string, body: string | null): Promise<Response> {
    const { id, version } = this.session;
    const headers = { ...(version !== '' && { 'mcp-protocol-version': version }), ...(id !== '' && { 'mcp-session-id': id }), ...given };
    const url = method === 'POST' ? this.#messages : undefined;
    this.#unfinished += 1;
    return await this.#parts.endpoint.send({ method, headers, accept, body, signal: this.closed, ...(url && { url }) });
  }

  /** Reads the stream of a request until its response has arrived, and beyond while the stream is open. */
  async #follow(first: Response, isWaiting: () => boolean, hasResumption: boolean): Promise<void> {
    let lastId = '';
    for (let response: Response | null = first; ; ) {
      const end: StreamEnd | null = response === null ? null : await this.#readEvents(response, (event) => this.#take(event));
      lastId = end?.lastId ?? lastId;
      if (!isWaiting()) return;
      const mayResume = hasResumption && lastId !== '' && this.#resumptions < maxStreamResumptions;
      if (!mayResume || end?.fault instanceof ResponseTooLarge) throw end?.fault ?? this.#withoutResponse();
      // The first is immediate, unless the server wants a delay.
      const grownMs = backoffMs(resumptionBackoff, this.#resumptions);
      this.#resumptions += 1;
      const hints = { askedMs: end?.retryMs, maxAskedMs: resumptionBackoff.maxMs };
      await systemClock.sleep(delayOrAsked(grownMs, hints), this.closed);
      if (!isWaiting()) return;
      // null: it is tried again.
      response = await this.#get({ 'last-event-id': lastId }).catch(() => null);
      if (response?.ok === false) {
        await response.body?.cancel();
        throw this.#withoutResponse();
      }
    }
  }

  /** Reads until the stream ends, or the transport is closed. Never throws. */
  async #readEvents({ body }: Response, take: (event: SseMessage) => void): Promise<StreamEnd> {
    const end: StreamEnd = { lastId: undefined, retryMs: undefined, fault: null };
    if (body === null) return end;
    const budget = this.#parts.budget();
    // The bytes are counted here.
    const parser = new SseParser(Number.POSITIVE_INFINITY);
    const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
    const stop = (): void => {
      reader.cancel().catch(() => {
        // Already reported as failed.
      });
    };
    this.closed.addEventListener('abort', stop, { once: true });
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        budget.left -= read.value.byteLength;
        if (budget.left < 0) throw responseTooLarge();
        for (const event of parser.push(read.value)) {
          end.lastId = event.id ?? end.lastId;
          take(event);
        }
      }
      for (const event of parser.end()) take(event);
    } catch (cause) {
      stop();
      end.fault = cause instanceof ResponseTooLarge ? cause : this.#brokenOff(cause);
    } finally {
      this.closed.removeEventListener('abort', stop);
    }
    end.retryMs = parser.retryMs;
    return end;
  }

  #take({ event, data }: SseMessage): void {
    if (event !== 'message' || data === '') return;
    const messages = messagesIn(tryParse(data));
    if (messages === null) this.#unread += 1;
    else for (const message of messages) this.#parts.receive(message);
  }

  #receiveJson(text: string): void {
    const { server, receive } = this.#parts;
    const body = tryParse(text);
    if (body === undefined) throw upstreamError(server, 'returned invalid JSON.');
    const { id, error } = recordOf(body);
    // For this request, which the server could not read (JSON-RPC 2.0, "Response object").
    if (id == null && isRecord(error)) throw toServerError(error);
    const messages = messagesIn(body);
    if (messages === null) throw upstreamError(server, 'returned something that is not an MCP message.');
    for (const message of messages) receive(message);
  }

  async #readText(response: Response): Promise<string> {
    const budget = this.#parts.budget();
    const read = await readBounded(response, budget.left).catch((cause: unknown) => {
      throw this.#brokenOff(cause);
    });
    if (read.truncated) throw responseTooLarge();
    this.#unfinished -= 1;
    budget.left -= read.bytes.byteLength;
    return new TextDecoder().decode(read.bytes);
  }

  #brokenOff(cause: unknown): Problem {
    return upstreamError(this.#parts.server, 'broke off its response.', cause, { retryable: true, sent: true });
  }

  #withoutResponse(): Problem {
    const skipped = this.#unread === 0 ? '' : ` It sent ${this.#unread} events that are not MCP messages.`;
    return upstreamError(this.#parts.server, `ended its event stream without a response.${skipped}`, undefined, {
      retryable: true,
      sent: true,
    });
  }
}

const noStream = 'did not open an event stream (HTTP+SSE).';

function isJson(type: string | null): boolean {
  return type?.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}

/** Returns null for anything else. */
function messagesIn(body: unknown): McpMessage[] | null {
  try {
    return readMcpMessages(body);
  } catch (error) {
    if (error instanceof RpcFault) return null;
    throw error;
  }
}

async function toHttpFault(response: Response, part: HttpFault['part']): Promise<HttpFault> {
  const { bytes } = await readBounded(response, maxFaultBytes).catch(() => ({ bytes: new Uint8Array() }));
  return new HttpFault(response.status, new TextDecoder().decode(bytes), part);
}
