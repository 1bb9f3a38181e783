/**
 * A session's events as async iterables. `followEvents` reads the log and reconnects for as long as the caller reads; `streamTurn` submits
 * a turn and reads its events. Both yield each event once and in order, however often the connection breaks.
 */
import { newIdempotencyKey, type MonikerClient } from './client.ts';
import { MonikerError } from './error.ts';
import { backoffMs, delay } from './retry.ts';
import type { components } from './schema.ts';
import { parseEventStream, type ServerSentEvent } from './sse.ts';

export type SessionEvent = components['schemas']['SessionEvent'];
export type ReplayEvent = Extract<SessionEvent, { type: 'replay-case' | 'replay-end' }>;
export type TurnRequest = components['schemas']['TurnRequest'];

export type FollowOptions = {
  /** Only events after this number. Default 0, all. */
  after?: number;
  /** Ends the iteration, without an error. */
  signal?: AbortSignal;
};

export type StreamTurnOptions = {
  /** Tools that the caller runs itself. Default: those of the session. */
  tools?: NonNullable<TurnRequest['tools']>;
  /** Default: a new one. With the key of an earlier turn and the same body, the events of that turn. */
  idempotencyKey?: string;
  /** Ends the iteration with its reason. The turn continues; `POST …/cancel` ends it. */
  signal?: AbortSignal;
};

/** Until a stream says otherwise with `retry:`. */
const defaultRetryMs = 1_000;
/** Attempts in a row that bring no event. */
const maxFailures = 8;
/** The service sends a heartbeat every 15 seconds: a connection without one for this long is dead. */
const stallMs = 60_000;

/**
 * Yields the events of a session after `after`, and new ones as they are written, until `signal` is aborted or the caller stops. Throws
 * `MonikerError` for an error that reconnecting does not fix, such as a revoked key or a deleted session.
 */
export function followEvents(
  client: MonikerClient,
  session: string,
  options: FollowOptions = {},
): AsyncGenerator<SessionEvent, void, undefined> {
  return follow<SessionEvent>(client, `/v1/sessions/${encodeURIComponent(session)}/events`, options);
}

/** Yields the events of a replay as its cases end, the last of them `replay-end`. Otherwise as `followEvents`. */
export async function* followReplay(
  client: MonikerClient,
  replay: string,
  options: FollowOptions = {},
): AsyncGenerator<ReplayEvent, void, undefined> {
  for await (const event of follow<ReplayEvent>(client, `/v1/replays/${encodeURIComponent(replay)}/events`, options)) {
    yield event;
    if (event.type === 'replay-end') return;
  }
}

async function* follow<Event extends { id: number }>(
  client: MonikerClient,
  path: string,
  { after = 0, signal }: FollowOptions,
): AsyncGenerator<Event, void, undefined> {
  const pace = createPace();
  let last = after;
  while (!signal?.aborted) {
    try {
      for await (const event of open<Event>(client, 'GET', path, { headers: { 'last-event-id': String(last) }, signal }, pace)) {
        if (event.id <= last) continue;
        if (event.id !== last + 1) throw new BrokenStreamError(`event ${last + 1} is missing`);
        last = event.id;
        pace.succeed();
        yield event;
      }
      pace.close();
    } catch (error) {
      if (signal?.aborted) return;
      pace.fail(error);
    }
    await delay(pace.delayMs(), signal).catch(() => undefined); // Aborted: the loop ends.
  }
}

/**
 * Submits a turn and yields its events until it has ended or waits for an approval, a result or an input. If the connection breaks, the
 * request is repeated with the same idempotency key, which returns the events of the same turn.
 */
export async function* streamTurn(
  client: MonikerClient,
  session: string,
  input: TurnInput,
  { tools, idempotencyKey = newIdempotencyKey(), signal }: StreamTurnOptions = {},
): AsyncGenerator<SessionEvent, void, undefined> {
  const path = `/v1/sessions/${encodeURIComponent(session)}/turns`;
  const body = { ...toTurnInput(input), ...(tools !== undefined && { tools }) };
  const pace = createPace();
  let last = 0;
  for (;;) {
    try {
      for await (const event of open<SessionEvent>(
        client,
        'POST',
        path,
        { body, headers: { 'idempotency-key': idempotencyKey }, signal },
        pace,
      )) {
        if (event.id <= last) continue;
        last = event.id;
        pace.succeed();
        yield event;
      }
      return;
    } catch (error) {
      signal?.throwIfAborted();
      pace.fail(error);
    }
    await delay(pace.delayMs(), signal);
  }
}

/** What a turn begins with: a text, parts, or a prompt of an MCP server with or without them. */
export type TurnInput = NonNullable<TurnRequest['input']> | Pick<TurnRequest, 'prompt' | 'input'>;

export function toTurnInput(input: TurnInput): Pick<TurnRequest, 'prompt' | 'input'> {
  return typeof input === 'string' || Array.isArray(input) ? { input } : input;
}

/** A stream that ended in a way that a new connection may fix. */
class BrokenStreamError extends Error {}

/** Counts failures in a row, and knows how long to wait before the next attempt. */
function createPace() {
  let failures = 0;
  let retryMs = defaultRetryMs;
  return {
    setRetry(ms: number): void {
      retryMs = ms;
    },
    succeed(): void {
      failures = 0;
    },
    /** The service closed an idle stream. */
    close(): void {
      failures = 0;
    },
    /** Throws the error if another attempt is useless. */
    fail(error: unknown): void {
      failures += 1;
      if (!isTemporary(error) || failures > maxFailures) throw error;
    },
    delayMs: (): number => (failures === 0 ? retryMs : Math.max(retryMs, backoffMs(failures))),
  };
}

/** `fetch`, and a body that breaks, reject with a TypeError; some runtimes with a plain network error. */
function isTemporary(error: unknown): boolean {
  if (error instanceof MonikerError) return error.status >= 500 || error.status === 429;
  return !(error instanceof RangeError || error instanceof SyntaxError);
}

type OpenRequest = { body?: unknown; headers: Record<string, string>; signal: AbortSignal | undefined };

async function* open<Event extends { id: number }>(
  client: MonikerClient,
  method: 'GET' | 'POST',
  path: string,
  { signal, ...request }: OpenRequest,
  pace: { setRetry(ms: number): void },
): AsyncGenerator<Event, void, undefined> {
  const stall = new AbortController();
  const signals = signal === undefined ? stall.signal : AbortSignal.any([signal, stall.signal]);
  const { body } = await client.open(method, path, { ...request, signal: signals });
  for await (const event of parseEventStream(watch(body, stall))) {
    if (event.retry !== null) pace.setRetry(event.retry);
    if (event.data !== '') yield toEvent<Event>(event);
  }
}

/** Aborts the request if no bytes arrive for `stallMs`. */
function watch(body: ReadableStream<Uint8Array>, stall: AbortController): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout>;
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stall.abort(new BrokenStreamError(`No bytes for ${stallMs / 1_000} s`)), stallMs);
  };
  const reader = body.getReader();
  // The timer runs only while bytes are awaited: a caller that takes its time is not a dead connection.
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        restart();
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } finally {
          clearTimeout(timer);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function toEvent<Event extends { id: number }>({ data }: ServerSentEvent): Event {
  const event = JSON.parse(data) as Event | { type: 'error'; problem: MonikerError['body'] };
  // An error without a number is not in the log: it ended the stream.
  if (!('id' in event)) throw new MonikerError(event.problem, { status: 0, requestId: null });
  return event;
}
