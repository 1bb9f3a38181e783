/**
 * One exchange with a provider: sends the request through the guarded outbound client and turns the reply's bytes into batches of events,
 * with timeouts and limits. Knows HTTP and event streams, but no wire format; a `ReplyReader` does.
 */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { limits } from '../core/limits.ts';
import type { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import type { SecretFilter } from '../core/policy/secret-filter.ts';
import { createJoinedReader, type JoinedReader } from '../net/joined-reader.ts';
import { JsonArrayReader } from '../net/json-array.ts';
import { declaredBytes, readBounded } from '../net/read-bounded.ts';
import { SseParser } from '../net/sse.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import { ExchangeTimeout } from './exchange-timeout.ts';
import {
  connectionProblem,
  type FailureOptions,
  failureEvents,
  malformedProblem,
  responseProblem,
  timeoutProblem,
} from './provider-error.ts';
import { createSecretFilter, withoutKey } from './provider-secrets.ts';
import type { ReplyReader } from './adapter.ts';
import { MB } from '../core/limits/units.ts';

export const providerIdleTimeoutMs = 120_000;
/** After a finish reason only usage and the end marker are missing; some servers never close the stream. */
export const providerTailTimeoutMs = 5_000;
/** One reply, streamed or not. */
export const maxPlainReplyBytes = 32 * MB;

/** `headers`: besides the provider's own, which take precedence. */
export type ProviderExchange = {
  access: ProviderAccess;
  path: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body: unknown;
};

/** A successful response with an unread body. `idle` watches it until stopped. */
export type OpenReply = { response: Response; idle: ExchangeTimeout };

/** Sends the request and waits for the response headers. Throws `Problem` for everything but success, and the signal's reason on abort. */
export async function openReply(
  deps: { http: OutboundHttp; clock: Clock },
  exchange: ProviderExchange,
  signal: AbortSignal | undefined,
  options: FailureOptions = {},
): Promise<OpenReply> {
  const { access } = exchange;
  const idle = new ExchangeTimeout(deps.clock, signal);
  try {
    const request = toRequest(exchange);
    idle.extend(limits.providerFirstByteTimeoutMs, 'did not respond in time');
    const response = await idle.guard(deps.http(request, { purpose: 'provider', signal: idle.signal }));
    if (!response.ok) throw await idle.guard(responseProblem(access, response, deps.clock.now(), options));
    return { response, idle };
  } catch (error) {
    const expired = idle.expired;
    idle.stop();
    if (expired !== null) throw timeoutProblem(access, expired);
    signal?.throwIfAborted();
    throw connectionProblem(access, error);
  }
}

/**
 * Returns the response headers, for a body that is forwarded unread. Uses only one timer, because in workerd a signal on a request costs
 * more than everything else. When the client disconnects, the runtime drops the request and all its fetches. `signal`: aborts the exchange,
 * also while the body is read, for a stream that may have to end before.
 */
export async function openHead(
  deps: { http: OutboundHttp; clock: Clock },
  exchange: ProviderExchange,
  {
    firstByteMs = limits.providerFirstByteTimeoutMs,
    signal,
    ...options
  }: FailureOptions & { firstByteMs?: number; signal?: AbortSignal } = {},
): Promise<Response> {
  const { access } = exchange;
  const late = (): never => {
    throw timeoutProblem(access, 'did not respond in time');
  };
  try {
    const response = await withTimeout(systemClock, deps.http(toRequest(exchange, signal), { purpose: 'provider' }), firstByteMs, late);
    if (response.ok) return response;
    throw await withTimeout(systemClock, responseProblem(access, response, deps.clock.now(), options), providerIdleTimeoutMs, late);
  } catch (error) {
    throw connectionProblem(access, error);
  }
}

/**
 * Returns the parsed body of an unstreamed reply. If a provider streams anyway, the stream is read to its end and rejected as invalid JSON.
 * Timeouts and limits are those of a streamed reply; no signal, as above.
 */
export async function openUnstreamed(deps: { http: OutboundHttp; clock: Clock }, exchange: ProviderExchange): Promise<unknown> {
  const { access } = exchange;
  const response = await openHead(deps, exchange, { firstByteMs: limits.providerWholeTimeoutMs });
  const late = (): never => {
    throw timeoutProblem(access, 'stopped sending in the middle of its reply');
  };
  let text: string;
  try {
    text = await withTimeout(systemClock, readText(access, response), providerIdleTimeoutMs, late);
  } catch (error) {
    throw connectionProblem(access, error);
  }
  return parseReply(access, withoutKey(access, text));
}

/**
 * Returns the events of an unstreamed reply, which end with `finish` or `error`, whatever happens to the bytes; null: the provider streams
 * anyway, and nothing was read. Reads the body at once, which costs a fraction of a `ReplyCursor`.
 */
export async function readWholeReply(access: ProviderAccess, response: Response, reply: ReplyReader): Promise<ChatEvent[] | null> {
  if (!isJson(response)) return null;
  const late = (): never => {
    throw timeoutProblem(access, 'stopped sending in the middle of its reply');
  };
  try {
    const text = withoutKey(access, await withTimeout(systemClock, readText(access, response), providerIdleTimeoutMs, late));
    const list = text.trimStart().startsWith('[') ? takeArray(reply) : null;
    const events =
      list === null ? reply.takeWhole(parseReply(access, text)) : [...list.bytes(new TextEncoder().encode(text)), ...list.end()];
    if (countNatives(events) > limits.maxNativePartsPerReply) throw tooManyNatives(access);
    return events;
  } catch (error) {
    return failureEvents(connectionProblem(access, error), null);
  }
}

/** Throws a problem for a body that is not JSON. */
function parseReply(access: ProviderAccess, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformedProblem(access, text === '' ? 'sent an empty reply' : 'sent a reply that is not JSON', error);
  }
}

/** Reads the body at once if its length is declared, which is the usual and cheapest case. */
async function readText(access: ProviderAccess, response: Response): Promise<string> {
  if (declaredBytes(response.headers) <= maxPlainReplyBytes) return await response.text();
  const { bytes, truncated } = await readBounded(response, maxPlainReplyBytes);
  if (truncated) throw malformedProblem(access, `sent more than ${maxPlainReplyBytes} bytes`);
  return new TextDecoder().decode(bytes);
}

function toRequest({ access, path, headers, body }: ProviderExchange, signal?: AbortSignal): Request {
  const isForm = body instanceof FormData;
  // The content type of a form has its boundary, and is set with the body.
  const type: Record<string, string> = isForm ? {} : { 'content-type': 'application/json' };
  return new Request(access.baseUrl + path, {
    method: 'POST',
    headers: { accept: 'text/event-stream, application/json', ...headers, ...access.headers, ...type },
    body: typeof body === 'string' || isForm ? body : JSON.stringify(body),
    redirect: 'manual',
    ...(signal && { signal }),
  });
}

/**
 * Reads the reply in batches, one per network read with events. The last batch ends with `finish` or `error`, whatever happens to the
 * bytes. Must be closed. Not a generator, which costs a turn of the event loop per batch.
 */
export class ReplyCursor {
  readonly #idle: ExchangeTimeout;
  readonly #reader: JoinedReader | null;
  readonly #access: ProviderAccess;
  readonly #reply: ReplyReader;
  readonly #signal: AbortSignal | undefined;
  readonly #take: ReplyBytes;
  readonly #filter: SecretFilter | null;
  #bytes = 0;
  #natives = 0;
  #ended = false;

  constructor({ response, idle }: OpenReply, access: ProviderAccess, reply: ReplyReader, signal?: AbortSignal) {
    this.#idle = idle;
    this.#reader = response.body === null ? null : createJoinedReader(response.body, systemClock);
    this.#access = access;
    this.#reply = reply;
    this.#signal = signal;
    this.#filter = createSecretFilter(access);
    this.#take = readerFor(response, access, reply);
    idle.onAbort(() => this.#cancel());
  }

  /** Returns null after the last batch. Throws only the outer signal's reason. */
  async next(): Promise<ChatEvent[] | null> {
    try {
      while (!this.#ended) {
        const events = await this.#read();
        if (events.length > 0) return events;
      }
      return null;
    } catch (error) {
      if (this.#signal?.aborted) throw this.#signal.reason;
      this.#ended = true;
      return failureEvents(connectionProblem(this.#access, error), null);
    }
  }

  /** Aborts what still runs. */
  close(): void {
    this.#idle.stop();
    this.#cancel();
  }

  /** Returns the events of one read. */
  async #read(): Promise<ChatEvent[]> {
    if (this.#reader === null) throw malformedProblem(this.#access, 'sent an empty reply');
    const inTail = this.#reply.state === 'tail';
    this.#idle.extend(inTail ? providerTailTimeoutMs : providerIdleTimeoutMs, 'stopped sending in the middle of its reply');
    const { done, value } = await this.#reader.read();
    if (this.#signal?.aborted) throw this.#signal.reason;
    if (this.#idle.expired !== null && !inTail) throw timeoutProblem(this.#access, this.#idle.expired);
    if (done || value === undefined) {
      this.#ended = true;
      const rest = this.#filter === null ? [] : this.#take.bytes(this.#filter.end());
      return this.#counted([...rest, ...this.#take.end()]);
    }
    this.#bytes += value.byteLength;
    if (this.#bytes > maxPlainReplyBytes) throw malformedProblem(this.#access, `sent more than ${maxPlainReplyBytes} bytes`);
    const events = this.#counted(this.#take.bytes(this.#filter === null ? value : this.#filter.push(value)));
    this.#ended = this.#reply.state === 'over';
    return events;
  }

  /** Each native event is a row of the log, so too many end the reply. */
  #counted(events: ChatEvent[]): ChatEvent[] {
    this.#natives += countNatives(events);
    if (this.#natives > limits.maxNativePartsPerReply) throw tooManyNatives(this.#access);
    return events;
  }

  #cancel(): void {
    this.#reader?.cancel().catch(() => {
      // The connection is already closed.
    });
  }
}

/** Returns the number of native events. */
export function countNatives(events: readonly ChatEvent[]): number {
  let count = 0;
  for (const event of events) if (event.type === 'native') count += 1;
  return count;
}

export function tooManyNatives(access: ProviderAccess): Problem {
  return malformedProblem(access, `requires more than ${limits.maxNativePartsPerReply} parts of one reply to be returned`);
}

export type ReplyBytes = { bytes(value: Uint8Array): ChatEvent[]; end(): ChatEvent[] };

export const readerFor = (response: Response, access: ProviderAccess, reply: ReplyReader): ReplyBytes =>
  isJson(response) ? takeJson(access, reply) : takeStream(access, reply);

function takeStream(access: ProviderAccess, reply: ReplyReader): ReplyBytes {
  const parser = new SseParser();
  let messages = 0;
  const takeAll = (found: ReturnType<SseParser['push']>): ChatEvent[] => {
    messages += found.length;
    if (found.length === 1) return reply.take(found[0] as (typeof found)[number]);
    return found.flatMap((message) => reply.take(message));
  };
  return {
    bytes: (value) => takeAll(parser.push(value)),
    end() {
      const events = takeAll(parser.end());
      if (messages === 0) throw malformedProblem(access, 'sent a reply that is neither JSON nor an event stream');
      return [...events, ...reply.end()];
    },
  };
}

/** A JSON list is a stream of its elements; anything else is one reply. The first non-blank byte decides. */
function takeJson(access: ProviderAccess, reply: ReplyReader): ReplyBytes {
  let take: ReplyBytes | null = null;
  return {
    bytes(value) {
      if (take === null) {
        const first = value.find((byte) => byte > 0x20);
        if (first === undefined) return [];
        take = first === 0x5b ? takeArray(reply) : takeWhole(access, reply);
      }
      return take.bytes(value);
    },
    end: () => (take ?? takeWhole(access, reply)).end(),
  };
}

function takeArray(reply: ReplyReader): ReplyBytes {
  const reader = new JsonArrayReader();
  return {
    bytes: (value) => reader.push(value).flatMap((data) => reply.take({ event: 'message', data })),
    end: () => reply.end(),
  };
}

function takeWhole(access: ProviderAccess, reply: ReplyReader): ReplyBytes {
  const decoder = new TextDecoder();
  let text = '';
  return {
    bytes(value) {
      text += decoder.decode(value, { stream: true });
      return [];
    },
    end() {
      text += decoder.decode();
      return reply.takeWhole(parseReply(access, text));
    },
  };
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json/i.test(response.headers.get('content-type') ?? '');
}
