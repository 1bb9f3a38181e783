/** Messages of a session as they come and go: which of them want an answer, which are one, and what is said of those that are refused. */
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { limits } from '../core/limits.ts';
import { isRecord } from '../core/wire-value.ts';

export function isAnswer(message: JSONRPCMessage): message is Extract<JSONRPCMessage, { id?: unknown }> & { id: unknown } {
  return 'id' in message && !('method' in message);
}

/** Of one message or a batch, those that want an answer. */
export function requestsOf(body: unknown): Record<string, unknown>[] {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.filter(isRecord).filter(({ method, id }) => typeof method === 'string' && id !== undefined);
}

export function requestIds(body: unknown): unknown[] {
  return requestsOf(body).map(({ id }) => id);
}

/** Of a message that we say to ourselves. */
export function ownHeaders(session: string): [string, string][] {
  return [
    ['accept', 'application/json, text/event-stream'],
    ['content-type', 'application/json'],
    ['mcp-session-id', session],
  ];
}

/** Of one message or a batch, what the client does not wait for any more. */
export function cancelledIds(body: unknown): unknown[] {
  const messages = Array.isArray(body) ? body : [body];
  return messages.flatMap((message) =>
    isRecord(message) && message.method === 'notifications/cancelled' && isRecord(message.params) ? [message.params.requestId] : [],
  );
}

export function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

export function sameId(): Response {
  const message = 'Another request of this session has that id, and is not answered yet: give each request an id of its own.';
  return Response.json({ jsonrpc: '2.0', error: { code: -32600, message }, id: null }, { status: 400 });
}

export function tooMany(): Response {
  const message = `This session has ${limits.maxMcpRequestsInFlight} requests under way, or ${limits.maxMcpSessionStreams} streams open: wait for one to end.`;
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status: 429, headers: { 'retry-after': '1' } });
}
