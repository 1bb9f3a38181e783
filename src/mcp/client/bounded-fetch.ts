/**
 * The `fetch` of the SDK's transport to one MCP server. Every request goes through the outbound client to the server's own origin;
 * responses are bounded (after decompression), and their session ids are checked. Server streams (GET) are opened only on request: the SDK
 * would otherwise keep one open next to every request.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import { Problem } from '../../core/problem.ts';
import { isRecord, tryParse } from '../../core/json/wire-value.ts';
import { permanentError, ResponseTooLarge, upstreamError } from './upstream-fault.ts';
import { unlessAborted } from '../../engine/timeout.ts';

/** An `Mcp-Session-Id` that a server sets. */
const maxMcpSessionIdLength = 1_024;

export type BoundedFetchOptions = {
  server: string;
  /** URL of the MCP endpoint. */
  url: string;
  fetch(request: Request): Promise<Response>;
  /** Bytes that may still arrive, for one response or for all responses together. */
  budget(): { left: number };
  /** Whether messages that the server starts by itself are read. */
  isListening?: boolean;
  /** HTTP+SSE: responses arrive on the server's stream, and each message is responded to with 202. */
  isSse?: boolean;
  /** Reports a fault of a body, which the SDK would only mention. */
  onFault(problem: Problem): void;
};

export function createBoundedFetch(options: BoundedFetchOptions): FetchLike {
  const { server, url: endpoint, onFault } = options;
  const { origin } = new URL(endpoint);
  return async (url, init) => {
    const headers = new Headers(init?.headers);
    const isOwnStream = init?.method === 'GET' && !headers.has('last-event-id');
    if (isOwnStream && options.isListening !== true && options.isSse !== true) return new Response(null, { status: 405 });
    // The SDK follows redirects within the origin. From http to https the origin differs, and no secret is bound to it.
    if (new URL(url).origin !== origin) throw redirected(server);
    const signal = init?.signal ?? null;
    // An event source adds members that the Workers runtime refuses.
    const { method, body } = init ?? {};
    const sent = options.isSse === true ? { method, body, signal } : init;
    const sending = sendOnce(options, new Request(url, { ...sent, headers, redirect: 'manual' }));
    // The outbound client may use another signal; ours must end the wait in any case.
    const response = signal === null ? await sending : await unlessAborted(sending, signal, (late) => late.body?.cancel());
    const fault =
      sessionIdFault(server, response.headers) ?? (options.isSse === true ? null : noAnswerFault(server, response.status, init?.body));
    if (fault !== null) {
      await response.body?.cancel();
      throw fault;
    }
    return bounded(response, options.budget(), signal, (cause) => {
      const problem = cause instanceof Problem ? cause : upstreamError(server, 'broke off its response.', cause, { retryable: true });
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
  const todo = 'Redirects to other URLs are not followed: set `url` in the server document to the new URL.';
  return permanentError(server, `redirects to another URL. ${todo}`);
}

/** The session id is sent as a header with each request (2025-11-25, "Session Management": visible ASCII). */
function sessionIdFault(server: string, headers: Headers): Problem | null {
  const id = headers.get('mcp-session-id');
  if (id === null || (id.length <= maxMcpSessionIdLength && /^[\x21-\x7e]+$/.test(id))) return null;
  return permanentError(server, `returned an invalid session id: it must be at most ${maxMcpSessionIdLength} visible ASCII characters.`);
}

/** 202 "Accepted" is only valid for messages that have no response (2025-11-25, "Sending Messages"); the SDK would wait for one. */
function noAnswerFault(server: string, status: number, body: unknown): Problem | null {
  if (status !== 202 || typeof body !== 'string') return null;
  const message = tryParse(body);
  if (!isRecord(message) || message.id === undefined || message.method === undefined) return null;
  return permanentError(server, 'responded 202 without content to a request that requires a response.');
}

function bounded(
  response: Response,
  budget: { left: number },
  signal: AbortSignal | null,
  toProblem: (cause: unknown) => Problem,
): Response {
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  // These describe the encoded body, not the decoded one.
  headers.delete('content-encoding');
  headers.delete('content-length');
  if (response.body === null || status === 204 || status === 205 || status === 304)
    return new Response(null, { status, statusText, headers });
  const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader();
  const stop = (): void => {
    reader.cancel().catch(() => {
      // Already reported as failed.
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
        if (budget.left < 0) throw responseTooLarge();
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

export function responseTooLarge(): ResponseTooLarge {
  const detail = 'The response exceeds the size limit. Request less data, or a part of it.';
  return new ResponseTooLarge('upstream_error', detail, { retryable: false });
}
