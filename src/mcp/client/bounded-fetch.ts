/**
 * The way to one MCP server, as the SDK's transport wants it: everything goes through the guarded fetch of the context, to the server's
 * own origin, and comes back bounded (after decompression) and with a session id that could be sent again. Streams of the server's own
 * (GET) are opened only for whoever asks for one: the SDK would hold one open beside every request.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { limits } from '../../core/limits.ts';
import { Problem } from '../../core/problem.ts';
import { isRecord, tryParse } from '../../core/wire-value.ts';
import { AnswerTooLarge, upstreamError } from './fault.ts';
import { unlessAborted } from './unless-aborted.ts';

export type BoundedFetchOptions = {
  server: string;
  /** Of its endpoint. */
  url: string;
  fetch(request: Request): Promise<Response>;
  /** What may still come, for one answer or for all of them together, whoever makes it. */
  budget(): { left: number };
  /** Also what the server begins to say by itself. */
  isListening?: boolean;
  /** A fault of a body, which the SDK would only tell in passing. */
  onFault(problem: Problem): void;
};

export function createBoundedFetch(options: BoundedFetchOptions): FetchLike {
  const { server, url: endpoint, onFault } = options;
  const { origin } = new URL(endpoint);
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    const isOwnStream = init?.method === 'GET' && !headers.has('last-event-id');
    if (isOwnStream && options.isListening !== true) return new Response(null, { status: 405 });
    // The SDK follows redirects within the origin; from http to https is another one, to which no secret is bound.
    if (new URL(url).origin !== origin) throw redirected(server);
    const signal = init?.signal ?? null;
    const sending = sendOnce(options, new Request(url, { ...init, headers, redirect: 'manual' }));
    // The guarded fetch may have a signal of its own; ours must end the wait in any case.
    const response = signal === null ? await sending : await unlessAborted(sending, signal, (late) => late.body?.cancel());
    const fault = sessionIdFault(server, response.headers) ?? noAnswerFault(server, response.status, init?.body);
    if (fault !== null) {
      await response.body?.cancel();
      throw fault;
    }
    return bounded(response, options.budget(), signal, (cause) => {
      const problem = cause instanceof Problem ? cause : upstreamError(server, 'broke off its answer.', cause, { retryable: true });
      onFault(problem);
      return problem;
    });
  };
}

async function sendOnce({ server, fetch }: BoundedFetchOptions, request: Request): Promise<Response> {
  try {
    return await fetch(request);
  } catch (cause) {
    if (cause instanceof Problem || request.signal.aborted) throw cause;
    throw upstreamError(server, 'could not be reached.', cause, { retryable: true });
  }
}

function redirected(server: string): Problem {
  const todo = 'Redirects to other addresses are not followed: set `url` of its document to where it is now.';
  return upstreamError(server, `redirects to another address. ${todo}`, undefined, { retryable: false });
}

/** Sent back as a header with each request (2025-11-25, "Session Management": visible ASCII). */
function sessionIdFault(server: string, headers: Headers): Problem | null {
  const id = headers.get('mcp-session-id');
  if (id === null || (id.length <= limits.maxMcpSessionIdLength && /^[\x21-\x7e]+$/.test(id))) return null;
  const what = `gave a session id that cannot be used: it must be at most ${limits.maxMcpSessionIdLength} visible ASCII characters.`;
  return upstreamError(server, what, undefined, { retryable: false });
}

/** "Accepted" is the answer to what wants none (2025-11-25, "Sending Messages"); the SDK would wait for another. */
function noAnswerFault(server: string, status: number, body: unknown): Problem | null {
  if (status !== 202 || typeof body !== 'string') return null;
  const message = tryParse(body);
  if (!isRecord(message) || message.id === undefined || message.method === undefined) return null;
  return upstreamError(server, 'took a request and answered nothing (202) where MCP has an answer.', undefined, { retryable: false });
}

function bounded(
  response: Response,
  budget: { left: number },
  signal: AbortSignal | null,
  toProblem: (cause: unknown) => Problem,
): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // Of the body as it was sent, which is not how it is read.
  headers.delete('content-encoding');
  headers.delete('content-length');
  if (response.body === null || status === 204 || status === 205 || status === 304)
    return new Response(null, { status, statusText, headers });
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const stop = (): void => {
    reader.cancel().catch(() => {
      // It has failed already.
    });
  };
  signal?.addEventListener('abort', stop, { once: true });
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (done) {
          signal?.removeEventListener('abort', stop);
          return controller.close();
        }
        budget.left -= value.byteLength;
        if (budget.left < 0) throw tooLarge();
        controller.enqueue(value);
      } catch (cause) {
        stop();
        controller.error(signal?.aborted === true ? signal.reason : toProblem(cause));
      }
    },
    cancel: stop,
  });
  return new Response(body, { status, statusText, headers });
}

function tooLarge(): Problem {
  return new AnswerTooLarge('upstream_error', 'The answer is larger than what is read of one. Ask for less, or for a part of it.', {
    retryable: false,
  });
}
