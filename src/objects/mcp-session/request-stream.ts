/**
 * The response to the requests of one POST of a session. One that is complete within `singleResponseMs`, with nothing sent before it, is passed
 * on as text; any other one is a stream. Both have event ids, and the events of both are stored, so that a client whose connection broke can
 * continue after the last one that it received (MCP 2025-11-25, resumability).
 */
import { createEventStream } from '../../mcp/server/reply.ts';
import type { RpcId } from '../../mcp/server/messages.ts';
import { eventsResponse, messageEvent, primingEvent } from '../../mcp/server/session-responses.ts';
import type { McpSessionAnswer } from '../../ports/mcp-sessions.ts';
import type { Clock } from '../../ports/runtime.ts';
import { type McpSessionEvents, streamStart } from './event-store.ts';

/** A request that takes longer gets a stream, whose first event id lets its client reconnect. */
const singleResponseMs = 100;
/** A longer text is not passed between objects as one value. */
const maxEventsCharacters = 1_000_000;

/** `onOpen`: called before its first event: from then on a client can come back for the responses. `onAttached`: counts its readers. */
export type StreamHost = {
  clock: Pick<Clock, 'after'>;
  events: McpSessionEvents;
  session: string;
  onOpen(stream: RequestStream): void;
  onAttached(change: 1 | -1): void;
};

export class RequestStream {
  readonly id: string;
  readonly #host: StreamHost;
  readonly #revision: string;
  /** Ids of its requests without a response. */
  readonly #waiting: Set<RpcId>;
  readonly #answer = Promise.withResolvers<McpSessionAnswer>();
  readonly #disarm: () => void;
  #isOpen = false;
  #reader: ReturnType<typeof createEventStream> | null = null;

  /** `earlier`: the name of a stream that an earlier object has begun, to which its client reconnects. */
  constructor(host: StreamHost, revision: string, requests: readonly RpcId[], earlier?: string) {
    this.id = earlier ?? crypto.randomUUID();
    this.#host = host;
    this.#revision = revision;
    this.#waiting = new Set(requests);
    this.#isOpen = earlier !== undefined;
    this.#disarm = host.clock.after(singleResponseMs, () => this.#open());
    if (this.#isOpen) this.#disarm();
    else if (requests.length > 1) this.#open();
  }

  /** What the client gets: at the latest after `singleResponseMs`. */
  get answer(): Promise<McpSessionAnswer> {
    return this.#answer.promise;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isRead(): boolean {
    return this.#reader !== null;
  }

  /** Ids of its requests without a response. */
  get waiting(): readonly RpcId[] {
    return [...this.#waiting];
  }

  /** Sends a message before the responses. */
  send(message: string): void {
    this.#open();
    const { events } = this.#host;
    this.#reader?.write(messageEvent(events.store(this.id, message), message));
  }

  /** `message`: the response; null: the request was cancelled and gets none. Ends with the last of its requests. */
  settle(request: RpcId, message: string | null): void {
    if (!this.#waiting.delete(request)) return;
    if (this.#isOpen) {
      if (message !== null) this.send(message);
      if (this.#waiting.size === 0) this.#end();
      return;
    }
    this.#disarm();
    const events = message === null ? '' : this.#whole(message);
    this.#answer.resolve(events.length > maxEventsCharacters ? eventsResponse(events, this.#host.session) : { events });
  }

  /** Returns the stored messages after an event, followed by those to come. */
  resume(after: string): ReadableStream<Uint8Array> {
    const body = this.#attach();
    for (const { id, message } of this.#host.events.after(after)) this.#reader?.write(messageEvent(id, message));
    return body;
  }

  /** The session has ended. */
  close(): void {
    this.#disarm();
    this.#end();
    this.#answer.resolve(null);
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#disarm();
    this.#isOpen = true;
    this.#host.onOpen(this);
    const body = this.#attach();
    this.#reader?.write(this.#priming());
    this.#answer.resolve(eventsResponse(body, this.#host.session));
  }

  #whole(message: string): string {
    const { events } = this.#host;
    let id: string | null = null;
    const priming = primingEvent(this.#revision, () => {
      const stored = events.storeWhole(this.id, message);
      id = stored.id;
      return stored.start;
    });
    return priming + messageEvent(id ?? events.store(this.id, message), message);
  }

  #priming(): string {
    return primingEvent(this.#revision, () => this.#host.events.store(this.id, streamStart));
  }

  /** A client that disconnects cancels nothing: it may come back. */
  #attach(): ReadableStream<Uint8Array> {
    const reader = createEventStream(() => this.#detach());
    this.#reader = reader;
    this.#host.onAttached(1);
    return reader.open();
  }

  #detach(): void {
    if (this.#reader === null) return;
    this.#reader = null;
    this.#host.onAttached(-1);
  }

  #end(): void {
    this.#reader?.close();
    this.#detach();
  }
}
