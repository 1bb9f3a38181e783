/**
 * One exchange with a provider: sends the request through the guarded outbound client and turns the reply's bytes into batches of events,
 * with timeouts and limits. Knows HTTP and event streams, but no wire format; a `ReplyReader` does.
 */
import type { ChatEvent } from '../core/model/chat-event.ts';
import { limits } from '../core/limits/limits.ts';
import { once } from '../core/memoize.ts';
import type { ProviderAccess } from '../core/model/provider.ts';
import { timeoutsOf } from '../core/model/timeouts.ts';
import type { SecretFilter } from '../core/redaction/secret-filter.ts';
import { type Framing, framings } from '../net/framing.ts';
import { createJoinedReader, type JoinedReader } from '../net/joined-reader.ts';
import { declaredBytes, readBounded } from '../net/read-bounded.ts';
import type { SseMessage } from '../net/sse.ts';
import { withTimeout } from '../engine/timeout.ts';
import { systemClock } from '../platform/clock.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { ProviderExchange } from './provider-exchange.ts';
import { ExchangeTimeout } from './exchange-timeout.ts';
import { brokenReply, connectionProblem, failureEvents, malformedProblem, responseProblem, timeoutProblem } from './provider-error.ts';
import { adapters } from './registry.ts';
import { createSecretFilter, withoutKey } from './provider-secrets.ts';
import { refuseFailure } from './retry.ts';
import type { ReplyReader } from './adapter.ts';
import { isRecord, tryParse } from '../core/json/wire-value.ts';
import { joinBytes } from '../core/text/bytes.ts';
import { MB } from '../core/limits/units.ts';

/** After a finish reason only usage and the end marker are missing; some servers never close the stream. */
export const providerTailTimeoutMs = 5_000;
/** One reply, streamed or not. */
export const maxPlainReplyBytes = 32 * MB;

/** `log`: absent: keys that fail are not logged. */
type SendDeps = { http: OutboundHttp; clock: Clock; log?: Logger | undefined };

/** A successful response with an unread body. `idle` watches it until stopped. */
export type OpenReply = { response: Response; idle: ExchangeTimeout; betweenBytesMs: number };

/** Sends the request and waits for the response headers. Throws `Problem` for everything but success, and the signal's reason on abort. */
export async function openReply(deps: SendDeps, exchange: ProviderExchange, signal: AbortSignal | undefined): Promise<OpenReply> {
  const { access } = exchange;
  const idle = new ExchangeTimeout(deps.clock, signal);
  const { firstByteMs, betweenBytesMs } = timeoutsOf(access.timeouts, exchange.timeouts);
  try {
    // Until the first byte of the body.
    idle.extend(firstByteMs, 'did not respond in time');
    const response = await idle.guard(send(deps, exchange, idle.signal));
    if (!response.ok) throw await idle.guard(responseProblem(access, response, deps.clock.now()));
    return { response, idle, betweenBytesMs };
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
 * more than everything else. When the client disconnects, the runtime drops the request and all its fetches. `isWhole`: the reply is not
 * streamed, so that its first byte is late. `signal`: aborts the exchange,
 * also while the body is read, for a stream that may have to end before.
 */
export async function openHead(
  deps: SendDeps,
  exchange: ProviderExchange,
  { isWhole = false, signal }: { isWhole?: boolean; signal?: AbortSignal } = {},
): Promise<Response> {
  const { access } = exchange;
  const { firstByteMs, wholeMs, betweenBytesMs } = timeoutsOf(access.timeouts, exchange.timeouts);
  const late = (): never => {
    throw timeoutProblem(access, 'did not respond in time');
  };
  try {
    const response = await withTimeout(systemClock, send(deps, exchange, undefined, signal), isWhole ? wholeMs : firstByteMs, late);
    if (response.ok) return response;
    throw await withTimeout(systemClock, responseProblem(access, response, deps.clock.now()), betweenBytesMs, late);
  } catch (error) {
    throw connectionProblem(access, error);
  }
}

/**
 * Returns the events of a reply that was not asked to be streamed; some providers stream anyway. They end with `finish` or `error`. Throws a
 * problem for a body that is no reply. Reads the body at once, which costs a fraction of a `ReplyCursor`.
 */
export async function readWholeReply(access: ProviderAccess, response: Response, reply: ReplyReader): Promise<WholeReply> {
  try {
    const text = await readText(access, response);
    const document = text.trimStart().startsWith('{') ? (tryParse(text) ?? null) : null;
    const take = readerFor(access, reply);
    const events = isRecord(document) ? reply.takeWhole(document) : [...take.bytes(new TextEncoder().encode(text)), ...take.end()];
    countNatives(access, events);
    return { events, text, document };
  } catch (error) {
    throw brokenReply(access, error);
  }
}

/** `document`: the parsed text; null: the reply is a stream. */
export type WholeReply = { events: ChatEvent[]; text: string; document: unknown };

/** Returns the text of the body, without the provider's key. */
async function readText(access: ProviderAccess, response: Response): Promise<string> {
  const late = (): never => {
    throw timeoutProblem(access, 'stopped sending in the middle of its reply');
  };
  return withoutKey(access, await withTimeout(systemClock, readBody(access, response), limits.providerIdleTimeoutMs, late));
}

/** Reads the body at once if its length is declared, which is the usual and cheapest case. */
async function readBody(access: ProviderAccess, response: Response): Promise<string> {
  if (declaredBytes(response.headers) <= maxPlainReplyBytes) return await response.text();
  const { bytes, truncated } = await readBounded(response, maxPlainReplyBytes);
  if (truncated) throw malformedProblem(access, `sent more than ${maxPlainReplyBytes} bytes`);
  return new TextDecoder().decode(bytes);
}

const loadKeys = once(() => import('./send-by-keys.ts'));
const loadClouds = once(() => import('./clouds/send-to-cloud.ts'));

/** `own`: the signal of the request itself; `outer`: that of the call. */
async function send({ http, ...deps }: SendDeps, exchange: ProviderExchange, outer?: AbortSignal, own?: AbortSignal): Promise<Response> {
  const options = { purpose: 'provider', ...(outer && { signal: outer }) } as const;
  const { access } = exchange;
  if (access.cloud !== undefined) {
    const { sendToCloud } = await loadClouds();
    const toCall = (call: Partial<ProviderExchange>): Request => toRequest({ ...exchange, ...call }, own);
    return await sendToCloud({ http: (request) => http(request, options), now: deps.clock.now() }, exchange, toCall);
  }
  if (access.keys === undefined) return await http(toRequest(exchange, own), options);
  const { sendByKeys } = await loadKeys();
  return await sendByKeys(deps, access, (key) => http(toRequest(exchange, own, key), options));
}

function toRequest(
  { access, path, method = 'POST', headers, body }: ProviderExchange,
  signal?: AbortSignal,
  key?: Readonly<Record<string, string>>,
): Request {
  const isStream = body instanceof ReadableStream;
  const isSent = body instanceof FormData || isStream || body === null;
  // The content type of a form has its boundary, and is set with the body.
  const type: Record<string, string> = isSent ? {} : { 'content-type': 'application/json' };
  return new Request(access.baseUrl + path, {
    method,
    headers: {
      accept: `${framings[adapters[access.kind].framing ?? 'sse'].accept}, application/json`,
      ...headers,
      ...key,
      ...access.headers,
      ...type,
    },
    ...(method !== 'GET' && { body: typeof body === 'string' || isSent ? body : JSON.stringify(body) }),
    redirect: 'manual',
    // Node requires it, for tests.
    ...(isStream && { duplex: 'half' }),
    ...(signal && { signal }),
  });
}

/**
 * Reads the reply in batches, one per network read with events. The last batch ends with `finish` or `error`, whatever happens to the
 * bytes. Must be closed. Not a generator, which costs a turn of the event loop per batch.
 */
export class ReplyCursor {
  readonly #idle: ExchangeTimeout;
  readonly #betweenBytesMs: number;
  readonly #reader: JoinedReader | null;
  readonly #access: ProviderAccess;
  readonly #reply: ReplyReader;
  readonly #signal: AbortSignal | undefined;
  readonly #take: ReplyBytes;
  readonly #filter: SecretFilter | null;
  #bytes = 0;
  #natives = 0;
  #ended = false;

  constructor(
    { response, idle, betweenBytesMs }: OpenReply,
    access: ProviderAccess,
    reply: ReplyReader,
    signal?: AbortSignal,
    take: ReplyBytes = readerFor(access, reply),
  ) {
    this.#idle = idle;
    this.#betweenBytesMs = betweenBytesMs;
    this.#reader = response.body === null ? null : createJoinedReader(response.body, systemClock);
    this.#access = access;
    this.#reply = reply;
    this.#signal = signal;
    this.#filter = createSecretFilter(access);
    this.#take = take;
    idle.onAbort(() => this.#cancel());
  }

  /** Returns null after the last batch. Throws only the outer signal's reason. */
  async next(): Promise<ChatEvent[] | null> {
    try {
      while (!this.#ended) {
        const events = await this.#read();
        if (events.length > 0 || this.#take.hasMore?.()) return events;
      }
      return null;
    } catch (error) {
      if (this.#signal?.aborted) throw this.#signal.reason;
      this.#ended = true;
      return failureEvents(brokenReply(this.#access, error), null);
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
    const waitMs = inTail ? providerTailTimeoutMs : this.#betweenBytesMs;
    // The timeout of the first byte has begun with the request.
    if (this.#bytes > 0) this.#idle.extend(waitMs, 'stopped sending in the middle of its reply');
    const { done, value } = await this.#readNext(this.#reader, inTail);
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

  /** A reply that has its finish reason is complete, however its connection ends: asking again would be billed again. */
  async #readNext(reader: JoinedReader, inTail: boolean): Promise<{ done: boolean; value?: Uint8Array | undefined }> {
    try {
      return await reader.read();
    } catch (error) {
      if (inTail) return { done: true };
      throw error;
    }
  }

  #counted(events: ChatEvent[]): ChatEvent[] {
    this.#natives = countNatives(this.#access, events, this.#natives);
    return events;
  }

  #cancel(): void {
    this.#reader?.cancel().catch(() => {
      // The connection is already closed.
    });
  }
}

/** Returns the number of native events, with those before. Each is a row of the log, so too many end the reply. */
export function countNatives(access: ProviderAccess, events: readonly ChatEvent[], before = 0): number {
  let count = before;
  for (const event of events) if (event.type === 'native') count += 1;
  if (count <= limits.maxNativePartsPerReply) return count;
  throw malformedProblem(access, `requires more than ${limits.maxNativePartsPerReply} parts of one reply to be returned`);
}

/** `hasMore`: a batch without events counts, too. */
export type ReplyBytes = { bytes(value: Uint8Array): ChatEvent[]; end(): ChatEvent[]; hasMore?(): boolean };

/**
 * Returns what reads a body by its content, since servers label it with any type, and stream or not whatever was requested. The first
 * character decides; the framing of the API decides for the rest.
 */
export function readerFor(access: ProviderAccess, reply: ReplyReader): ReplyBytes {
  const { framing = 'sse' } = adapters[access.kind];
  let take: ReplyBytes | null = null;
  /** What may be the beginning of a byte order mark. */
  const held: Uint8Array[] = [];
  return {
    bytes(value) {
      if (take !== null) return take.bytes(value);
      const first = value.find((byte) => byte > 0x20 && byte < 0x80);
      if (first === undefined) {
        held.push(value.filter((byte) => byte >= 0x80));
        return [];
      }
      const isJson = first === 0x7b || first === 0x5b;
      // An object is a whole reply, but for an API whose messages are objects.
      take = takeStream(access, reply, { framing: isJson ? 'json' : 'sse', mayBeWhole: first === 0x7b && framing !== 'json' });
      return take.bytes(joinBytes([...held, value]));
    },
    end: () => (take ?? takeStream(access, reply, { framing, mayBeWhole: false })).end(),
  };
}

/** `mayBeWhole`: a single message is a whole reply. */
type StreamForm = { framing: Framing; mayBeWhole: boolean };

function takeStream(access: ProviderAccess, reply: ReplyReader, { framing, mayBeWhole }: StreamForm): ReplyBytes {
  const reader = framings[framing].create(mayBeWhole ? maxPlainReplyBytes : undefined);
  let messages = 0;
  let only: SseMessage | null = null;
  const takeAll = (found: readonly SseMessage[]): ChatEvent[] => {
    messages += found.length;
    if (mayBeWhole && messages <= 1) {
      only ??= found[0] ?? null;
      return [];
    }
    const all = only === null ? found : [only, ...found];
    only = null;
    if (all.length === 1) return reply.take(all[0] as SseMessage);
    return all.flatMap((message) => reply.take(message));
  };
  return {
    bytes: (value) => takeAll(reader.push(value)),
    end() {
      const events = takeAll(reader.end());
      if (only !== null) return reply.takeWhole(tryParse(only.data));
      if (messages === 0) throw malformedProblem(access, 'sent a reply that is neither JSON nor an event stream');
      return [...events, ...reply.end()];
    },
  };
}

/** Reads the first batch of a reply. Throws `FailedReply` for a failure before any output. */
export async function beginReply(
  open: OpenReply,
  { access, reply, take }: { access: ProviderAccess; reply: ReplyReader; take?: ReplyBytes },
  signal: AbortSignal | undefined,
): Promise<{ first: ChatEvent[]; cursor: ReplyCursor }> {
  const cursor = new ReplyCursor(open, access, reply, signal, take);
  try {
    return { first: refuseFailure(await cursor.next()), cursor };
  } catch (error) {
    cursor.close();
    throw error;
  }
}

/** Throws `FailedReply` for a failure before any output. */
export async function readUnstreamed(response: Response, access: ProviderAccess): Promise<ReadReply> {
  const reply = adapters[access.kind].createReply(access);
  const whole = await readWholeReply(access, response, reply);
  refuseFailure(whole.events);
  return { ...whole, reply };
}

export type ReadReply = WholeReply & { reply: ReplyReader };
