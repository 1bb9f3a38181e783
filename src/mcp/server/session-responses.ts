/** Responses to requests of a session of the 2025 revisions, as those of the SDK's transport. */
import { DEFAULT_NEGOTIATED_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';

/** Reconnect delay for a client whose stream ended. */
export const mcpRetryMs = 1_000;

/** `version`: the `mcp-protocol-version` of a request. Returns null if it is not supported. */
export function sessionRevision(version: string | null): string | null {
  const revision = version ?? DEFAULT_NEGOTIATED_PROTOCOL_VERSION;
  return SUPPORTED_PROTOCOL_VERSIONS.includes(revision) ? revision : null;
}

/** Returns an event without a message, which gives the client an id before the first message; '' in revisions without such events. */
export function primingEvent(revision: string, id: () => string): string {
  return revision < '2025-11-25' ? '' : `id: ${id()}\nretry: ${mcpRetryMs}\ndata: \n\n`;
}

export function messageEvent(id: string, message: object): string {
  return textEvent(id, JSON.stringify(message));
}

/** `message`: JSON. With its fields in the order of the SDK, which writes the other events of these streams. */
export function textEvent(id: string, message: string): string {
  return `event: message\nid: ${id}\ndata: ${message}\n\n`;
}

/** `body`: the text of a whole event stream, whose length is declared, or a stream of it. */
export function eventsResponse(body: string | ReadableStream<Uint8Array>, session: string): Response {
  const whole = typeof body === 'string' ? new TextEncoder().encode(body) : null;
  const headers = {
    ...(whole !== null && { 'content-length': String(whole.byteLength) }),
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    connection: 'keep-alive',
    'x-accel-buffering': 'no',
    'mcp-session-id': session,
  };
  return new Response(whole ?? body, { headers });
}

/** For an expired session: the client starts a new one (MCP, session management: 404). */
export function unknownMcpSession(): Response {
  return refuseInSession(404, -32001, 'Session not found');
}

export function refuseInSession(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
