/**
 * Requests of a session that are answered without a stream, because the response is complete within `singleResponseMs` and nothing is sent
 * before it. The SDK's server handles all requests; its transport is passed a request only when the client needs a stream: because the
 * response takes longer, or because a message, such as progress or a question, is sent before it. Both are stored alike. With a stream for each, a call of a local tool
 * takes a fifth more CPU (2026-11-28, `bench/mcp.ts`).
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { SessionRequest } from '../../mcp/server/session-request.ts';
import { eventsResponse, messageEvent, primingEvent } from '../../mcp/server/session-responses.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { McpSessionAnswer } from '../../ports/mcp-sessions.ts';
import type { McpSessionEvents } from './event-store.ts';
import { isResponse } from './session-messages.ts';

/** A request that takes longer gets a stream, whose first event id lets its client reconnect. */
const singleResponseMs = 100;
/** A longer text is not passed between objects as one value. */
const maxEventsCharacters = 1_000_000;

/** `open`: passes the request to the transport. `callId`: of the tool call that was started meanwhile. */
type Waiting = {
  revision: string;
  callId: string | null;
  opening: Promise<void> | null;
  open(callId: string | null): Promise<Response>;
  resolve(answer: McpSessionAnswer | PromiseLike<McpSessionAnswer>): void;
};

export class SingleResponses {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #events: McpSessionEvents;
  readonly #session: string;
  readonly #waiting = new Map<unknown, Waiting>();

  constructor({ deps, events, id }: { deps: { clock: Pick<Clock, 'after'> }; events: McpSessionEvents; id: string }) {
    this.#clock = deps.clock;
    this.#events = events;
    this.#session = id;
  }

  /** `deliver`: starts the request. */
  async answer(
    { message: { id }, revision }: SessionRequest,
    deliver: () => void,
    open: (callId: string | null) => Promise<Response>,
  ): Promise<McpSessionAnswer> {
    const { promise, resolve } = Promise.withResolvers<McpSessionAnswer>();
    const waiting: Waiting = { revision, callId: null, opening: null, open, resolve };
    this.#waiting.set(id, waiting);
    const disarm = this.#clock.after(singleResponseMs, () => void this.#open(waiting));
    try {
      deliver();
      return await promise;
    } finally {
      disarm();
    }
  }

  /** True for a request that was started here, until its response is sent. */
  has(id: unknown): boolean {
    return this.#waiting.has(id);
  }

  /** Takes a message of the server. Returns false once it has to be sent on a stream. */
  async take(message: JSONRPCMessage, related: unknown): Promise<boolean> {
    const waiting = this.#waiting.get(isResponse(message) ? message.id : related);
    if (waiting === undefined) return false;
    if (waiting.opening === null && isResponse(message)) {
      const events = this.#eventsWith(waiting, message);
      waiting.resolve(events.length > maxEventsCharacters ? eventsResponse(events, this.#session) : { events });
      return true;
    }
    await this.#open(waiting);
    return false;
  }

  /** Returns false for a request that has a stream, and therefore a row. */
  setCallId(id: unknown, callId: string): boolean {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined || waiting.opening !== null) return false;
    waiting.callId = callId;
    return true;
  }

  /** Waits until the stream of the request is open, if it was requested. */
  async opened(id: unknown): Promise<void> {
    await this.#waiting.get(id)?.opening;
  }

  /** Ends a request that was answered or cancelled. Returns true if it had no stream: a cancelled one then gets no response. */
  end(id: unknown): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (waiting === undefined || waiting.opening !== null) return false;
    // Has no effect if it was answered.
    waiting.resolve({ events: '' });
    return true;
  }

  /** The session has ended. */
  close(): void {
    for (const { resolve } of this.#waiting.values()) resolve(null);
    this.#waiting.clear();
  }

  async #open(waiting: Waiting): Promise<void> {
    if (waiting.opening === null) {
      const response = waiting.open(waiting.callId);
      waiting.resolve(response);
      waiting.opening = response.then(
        () => undefined,
        () => undefined,
      );
    }
    await waiting.opening;
  }

  #eventsWith({ revision }: Waiting, message: JSONRPCMessage): string {
    const stream = crypto.randomUUID();
    const priming = primingEvent(revision, () => this.#events.store(stream, {}));
    return priming + messageEvent(this.#events.store(stream, message), message);
  }
}
