/** Helpers for the messages of a session: requests, responses, cancellations, the caller of a request, and the errors for refused messages. */
import type { AuthInfo, JSONRPCMessage } from '@modelcontextprotocol/server';
import { limits } from '../../core/limits/limits.ts';
import { isRecord } from '../../core/json/wire-value.ts';
import type { Principal } from '../../core/people/principal.ts';
import type { McpSessionRequest } from '../../ports/mcp-sessions.ts';

export function isResponse(message: JSONRPCMessage): message is Extract<JSONRPCMessage, { id?: unknown }> & { id: unknown } {
  return 'id' in message && !('method' in message);
}

/** Returns the requests of a message or a batch. */
export function requestsOf(body: unknown): Record<string, unknown>[] {
  return recordsOf(body).filter(({ method, id }) => typeof method === 'string' && id !== undefined);
}

/** Returns the messages of a message or a batch that are objects. */
export function recordsOf(body: unknown): Record<string, unknown>[] {
  return [body].flat().filter(isRecord);
}

/** Returns the headers for a message that the object sends to its own server. */
export function replayHeaders(session: string): [string, string][] {
  return [
    ['accept', 'application/json, text/event-stream'],
    ['content-type', 'application/json'],
    ['mcp-session-id', session],
  ];
}

/** Returns the ids of the requests that the client cancels in a message or a batch. */
export function cancelledIds(body: unknown): unknown[] {
  return recordsOf(body).flatMap(({ method, params }) =>
    method === 'notifications/cancelled' && isRecord(params) ? [params.requestId] : [],
  );
}

export function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

export function duplicateIdResponse(): Response {
  const message = 'Another request of this session with this id is still in flight. Use a unique id for each request.';
  return Response.json({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }, { status: 400 });
}

export function tooManyRequestsResponse(): Response {
  const message = `This session has ${limits.maxMcpRequestsInFlight} requests in flight or ${limits.maxMcpSessionStreams} open streams, which is the limit. Wait for one to end.`;
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 429, headers: { 'retry-after': '1' } });
}

/** The SDK uses method and headers only; the URL has no meaning inside the object. */
export function toRequest(method: string, headers: McpSessionRequest['headers']): Request {
  return new Request('https://session.invalid/mcp', { method, headers: headers.map(([name, value]): [string, string] => [name, value]) });
}

/** Passes the caller to the server. The key was checked before. */
export function authInfoOf(principal: Principal): AuthInfo {
  return { token: '', clientId: principal.keyId, scopes: [...principal.scopes], extra: { principal } };
}

export function principalOf(authInfo: AuthInfo | undefined): Principal {
  const principal = authInfo?.extra?.principal;
  if (principal === undefined) throw new Error('a request of a session has no principal');
  // Only `authInfoOf` sets it.
  return principal as Principal;
}

/** Passes a stream through and calls `onEnd` once when it ends, fails or is cancelled by its reader. */
export function onBodyEnd(body: ReadableStream<Uint8Array> | null, onEnd: () => void): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const reader = body.getReader();
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    onEnd();
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  });
}
