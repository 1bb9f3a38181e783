/**
 * One exchange with a provider: the request out through the guarded door, the reply's bytes to batches of events, with
 * time-outs and bounds. Knows HTTP and event streams, and no wire format: that is a `ReplyReader`.
 */
import type { ChatEvent } from '../core/chat-event.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problem.ts';
import type { ProviderAccess } from '../core/provider.ts';
import { SseParser } from '../net/sse.ts';
import type { OutboundHttp } from '../ports/outbound.ts';
import type { Clock } from '../ports/runtime.ts';
import { Patience } from './patience.ts';
import { connectionProblem, type FailureOptions, malformedProblem, responseProblem, timeoutProblem } from './provider-error.ts';
import type { ReplyReader } from './reply-reader.ts';

export type Exchange = { access: ProviderAccess; path: string; body: unknown };

/** An answer with a success status, its body unread. `patience` watches it until stopped. */
export type OpenReply = { response: Response; patience: Patience };

/** Sends the request and waits for the answer's head. Throws `Problem` for everything but success, and what the signal aborts with. */
export async function openReply(
  deps: { http: OutboundHttp; clock: Clock },
  exchange: Exchange,
  signal: AbortSignal | undefined,
  options: FailureOptions = {},
): Promise<OpenReply> {
  const { access } = exchange;
  const patience = new Patience(deps.clock, signal);
  try {
    const request = new Request(access.baseUrl + exchange.path, {
      method: 'POST',
      headers: { accept: 'text/event-stream, application/json', ...access.headers, 'content-type': 'application/json' },
      body: typeof exchange.body === 'string' ? exchange.body : JSON.stringify(exchange.body),
    });
    patience.allow(limits.providerFirstByteTimeoutMs, 'did not answer in time');
    const response = await patience.guard(deps.http(request, { purpose: 'provider', signal: patience.signal }));
    if (!response.ok) throw await patience.guard(responseProblem(access, response, deps.clock.now(), options));
    return { response, patience };
  } catch (error) {
    const expired = patience.expired;
    patience.stop();
    if (expired !== null) throw timeoutProblem(access, expired);
    signal?.throwIfAborted();
    throw error instanceof Problem && error.extra.provider !== undefined ? error : connectionProblem(access, error);
  }
}

/**
 * The reply as batches, one a network read that gave something. The last batch ends with `finish` or `error`, whatever
 * happens to the bytes; throws only what the outer signal aborts with. Closes the exchange when the consumer leaves.
 */
export async function* readReply(
  { response, patience }: OpenReply,
  access: ProviderAccess,
  reply: ReplyReader,
  signal?: AbortSignal,
): AsyncGenerator<ChatEvent[]> {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    patience.stop();
    yield [errorEvent(malformedProblem(access, 'sent an empty answer'))];
    return;
  }
  patience.onAbort(() => cancel(reader, patience.signal.reason));
  const take = isJson(response) ? takeWhole(access, reply) : takeStream(access, reply);
  try {
    for (let bytes = 0; reply.state !== 'over'; ) {
      patience.allow(
        reply.state === 'tail' ? limits.providerTailTimeoutMs : limits.providerIdleTimeoutMs,
        'fell silent in the middle of its reply',
      );
      const { done, value } = await reader.read();
      if (signal?.aborted) throw signal.reason;
      if (patience.expired !== null && reply.state !== 'tail') {
        yield [errorEvent(timeoutProblem(access, patience.expired))];
        return;
      }
      bytes += value?.byteLength ?? 0;
      if (bytes > limits.maxPlainReplyBytes) throw malformedProblem(access, `sent more than ${limits.maxPlainReplyBytes} bytes`);
      const events = done ? take.end() : take.bytes(value);
      if (events.length > 0) yield events;
      if (done) return;
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    yield [errorEvent(connectionProblem(access, error))];
  } finally {
    patience.stop();
    cancel(reader, 'done');
  }
}

type Take = { bytes(value: Uint8Array): ChatEvent[]; end(): ChatEvent[] };

function takeStream(access: ProviderAccess, reply: ReplyReader): Take {
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
      if (messages === 0) return [errorEvent(malformedProblem(access, 'sent an answer that is neither JSON nor an event stream'))];
      return [...events, ...reply.end()];
    },
  };
}

function takeWhole(access: ProviderAccess, reply: ReplyReader): Take {
  const decoder = new TextDecoder();
  let text = '';
  return {
    bytes(value) {
      text += decoder.decode(value, { stream: true });
      return [];
    },
    end() {
      text += decoder.decode();
      let body: unknown;
      try {
        body = JSON.parse(text);
      } catch (error) {
        return [errorEvent(malformedProblem(access, text === '' ? 'sent an empty answer' : 'sent an answer that is not JSON', error))];
      }
      return reply.takeWhole(body);
    },
  };
}

function isJson(response: Response): boolean {
  return /^application\/([\w.-]+\+)?json/i.test(response.headers.get('content-type') ?? '');
}

function errorEvent(problem: Problem): ChatEvent {
  return { type: 'error', problem: problem.toBody(), retryable: problem.extra.retryable === true };
}

function cancel(reader: ReadableStreamDefaultReader<Uint8Array>, reason: unknown): void {
  reader.cancel(reason).catch(() => {
    // The connection is gone already, which is all that was wanted.
  });
}
